// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/bins/encoder_layer.hpp"
#include "bigbird/bins/stem.hpp"
#include "bigbird/core/formats/json_file.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace bigbird::sequences {

/// The configuration of a network that reads records: convolutions over bases, BigBird's encoder over
/// positions, pooling over the record.
struct Config {
    std::int64_t filters = 128, width = 15;  ///< of the first convolution; each filter's best site is a
                                             ///< feature of the record
    std::int64_t pool = 4;                   ///< bases of a position
    std::int64_t convolutions = 2;           ///< after the first, of width 5
    std::int64_t hidden = 96;
    std::int64_t layers = 1, heads = 4;  ///< of the encoder
    std::int64_t dense = 128;            ///< features of the layer before the last
    double dropout = 0.2, head_dropout = 0.5;
    /// Filters read both strands.
    bool both_strands = true;
    /// Number of positions around the record's middle with a learned vector each. Use 0 for records that are
    /// not aligned.
    std::int64_t places = 0;
    /// Bases of the longest record; only the middle of longer ones is read.
    std::int64_t longest = 32768;

    /// Bases that a record of `length` is padded to, at the end: full positions, and full blocks where
    /// attention is sparse. Adds up to a sixteenth of the length, so that records of similar length can share
    /// a batch.
    std::int64_t padded(std::int64_t length) const;
    /// Whether records of `positions` positions attend fully.
    bool attends_fully(std::int64_t positions) const;
    /// The stem and the encoder as a bin model's configuration, without a grid.
    bins::BinsConfig body() const;
    /// Throws ConfigError naming what does not fit.
    void validate() const;
};

Json to_json(const Config& config);
/// Throws InputError naming `where`.
Config config_from_json(const Json& json, const std::filesystem::path& where);

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
    model::KeptRotaryTable rotary_;
};
TORCH_MODULE(Network);

/// As bins::initialise().
void initialise(NetworkImpl& network, std::uint64_t seed);

}  // namespace bigbird::sequences
