// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/bins/encoder_layer.hpp"
#include "bigbird/bins/stem.hpp"
#include "bigbird/sequences/config.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::sequences {

/// Stem, encoder, and a head. The head's input is the mean and the maximum over a record's positions, and the
/// best site of each filter of the first convolution. Parameters are zero until initialise() or a file fills
/// them.
class NetworkImpl : public torch::nn::Module {
public:
    /// Throws ConfigError if the configuration is not valid.
    NetworkImpl(const Config& config, std::int64_t labels);
    /// bases: (batch, length) uint8 codes (bins::base_channels), or (batch, length, 4) floats, which may have
    /// gradients, on the network's device, padded with N to Config::padded(); lengths: the length of each
    /// record, all with the same padded length. Returns (batch, labels) float32 logits. Means, maxima over
    /// positions and attention ignore padding. Dropout in training mode, by `key`.
    at::Tensor forward(const at::Tensor& bases, std::span<const std::int64_t> lengths,
                       const model::DropoutKey& key = {});

    const Config& config() const { return config_; }
    at::Tensor output_bias() const { return output_->bias; }
    /// (filters, 4, width) of the first convolution.
    at::Tensor first_filters() const { return stem_->first_filters(); }

private:
    struct Extent;
    at::Tensor encode(at::Tensor x, const Extent& extent, const model::DropoutKey& key);
    at::Tensor at_places(const at::Tensor& x, const Extent& extent) const;

    Config config_;
    bins::Stem stem_{nullptr};
    at::Tensor places_;  // (positions, hidden); undefined without learned positions
    std::vector<bins::EncoderLayer> layers_;
    model::LayerNorm norm_{nullptr}, site_norm_{nullptr};
    model::Linear dense_{nullptr}, output_{nullptr};
    model::RotaryTable rotary_;  // made on first use
};
TORCH_MODULE(Network);

/// As bins::initialise().
void initialise(NetworkImpl& network, std::uint64_t seed);

}  // namespace bigbird::sequences
