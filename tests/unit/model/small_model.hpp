// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/model/batching.hpp"
#include "bigbird/model/bigbird.hpp"

namespace bigbird::testing {

/// Two layers of 32 with blocks of 4, sparse above 28 tokens (r = 1).
inline model::BigBirdConfig small_config() {
    model::BigBirdConfig config;
    config.vocab_size = 50;
    config.hidden_size = 32;
    config.num_hidden_layers = 2;
    config.num_attention_heads = 2;
    config.intermediate_size = 64;
    config.max_position_embeddings = 128;
    config.pattern.block_size = 4;
    config.pattern.random_blocks = 1;
    config.initializer_range = 0.2;
    return config;
}

inline model::TokenSequence random_sequence(std::size_t length, std::uint64_t seed) {
    model::TokenSequence sequence;
    Rng rng(seed);
    for (std::size_t i = 0; i < length; ++i) {
        sequence.ids.push_back(static_cast<std::int32_t>(rng.between(5, 49)));
        sequence.types.push_back(i > length / 2 ? 1 : 0);
    }
    return sequence;
}

}  // namespace bigbird::testing
