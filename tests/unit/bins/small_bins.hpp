// SPDX-License-Identifier: Apache-2.0
// A model of bins that is small enough for tests.
#pragma once

#include "bigbird/bins/network.hpp"

#include <string>

namespace bigbird::testing {

/// Windows of 8 bins of 20 bases, positions of 10 bases, blocks of 2, one layer of 16, two heads.
inline bins::BinsConfig small_bins() {
    bins::BinsConfig config;
    config.bin = 20;
    config.window_bins = 8;
    config.margin_bins = 2;
    config.stages = {{12, 7, 2}, {16, 3, 5}};
    config.encoder.hidden_size = 16;
    config.encoder.num_hidden_layers = 1;
    config.encoder.num_attention_heads = 2;
    config.encoder.intermediate_size = 24;
    config.encoder.layer_norm_eps = 1e-5;
    config.encoder.pattern.block_size = 2;
    config.encoder.pattern.random_blocks = 1;
    return config;
}

/// A network of three labels in evaluation mode.
inline bins::BinsNetwork bins_network(const bins::BinsConfig& config) {
    bins::BinsNetwork network(config, 3);
    bins::initialise(*network, 5);
    network->eval();
    return network;
}

/// Bases of all letters, N among them.
inline std::string some_dna(std::int64_t length) {
    std::string dna;
    for (std::int64_t i = 0; i < length; ++i)
        dna += "ACGTTGCAAGN"[(i * i + i / 7) % 11];
    return dna;
}

}  // namespace bigbird::testing
