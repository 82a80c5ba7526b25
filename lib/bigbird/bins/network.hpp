// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/bins/encoder_layer.hpp"
#include "bigbird/bins/motifs.hpp"
#include "bigbird/bins/stem.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <string_view>
#include <vector>

namespace bigbird::bins {

/// Stem, encoder and head. Bins shorter than a position have a profile head: with c the encoder's vector of
/// a position, projected, and s a convolution over the bases (width 25), a base's features are
/// c + gelu(c + s). So the trunk says how much signal a position has, and both say at which base. Parameters
/// are zero until initialise() or a file fills them; their names are the keys of model.safetensors:
/// stem.0.convolution.weight, encoder.0.query.weight, head.output.weight …
class BinsNetworkImpl : public torch::nn::Module {
public:
    /// Throws ConfigError if the configuration is not valid.
    BinsNetworkImpl(const BinsConfig& config, std::int64_t labels);
    /// bases: (batch, window_bases) uint8 codes (base_channels), or (batch, window_bases, 4) floats, which
    /// may have gradients, on the network's device. Returns (batch, window_bins, labels) logits. Dropout in
    /// training mode, by `key`.
    at::Tensor forward(const at::Tensor& bases, const model::DropoutKey& key = {});
    /// The first part of forward(), up to the head: (batch, window_bins, feature_size + motif_filters)
    /// float32, the means over each bin's positions and its best sites (motifs.hpp), or the means over
    /// its bases of what a profile head reads.
    at::Tensor features(const at::Tensor& bases, const model::DropoutKey& key = {});
    /// The first part of features().
    Stem stem() const { return stem_; }
    /// The second part of features(): the encoder over a window's positions, and the best sites of its bins.
    /// With a profile head: of its positions.
    at::Tensor encode(const StemOutput& stem, const model::DropoutKey& key = {});
    /// The projections that encode_changed() needs, of a window's positions, (1, positions, hidden).
    Projections project(const at::Tensor& window);
    /// The encoder's part of features(), in evaluation mode, of windows that differ from one in a few
    /// positions, at chosen bins, (batch, bins) int64: (batch, bins, hidden).
    at::Tensor encode_changed(const at::Tensor& window, const Projections& projections,
                              const ChangedPositions& changed, const at::Tensor& bins);
    /// The second part of forward(): logits of features(), or of some rows of them, (rows, features).
    at::Tensor predict(const at::Tensor& features, const model::DropoutKey& key = {});

    const BinsConfig& config() const { return config_; }
    std::int64_t labels() const { return labels_; }
    /// (labels) of the last layer.
    at::Tensor output_bias() const { return output_->bias; }
    /// (channels, 4, width) of the first convolution.
    at::Tensor first_filters() const { return stem_->first_filters(); }
    /// The parameters head.motifs.mean and head.motifs.weight; undefined without motif_filters.
    OwnMotifs own_motifs() const { return own_motifs_; }
    void set_attention_backend(attention::Backend backend) { backend_ = backend; }

private:
    Pass pass_of(const at::Tensor& x, const model::DropoutKey& key);
    /// The mean over each bin's positions, (batch, bins x positions of a bin, hidden), as float32.
    at::Tensor means_of(const at::Tensor& x) const;
    at::Tensor bases_of(const at::Tensor& encoded, const at::Tensor& bases, const model::DropoutKey& key);

    BinsConfig config_;
    std::int64_t labels_;
    attention::Backend backend_ = attention::Backend::automatic;
    Stem stem_{nullptr};
    std::vector<EncoderLayer> layers_;
    model::LayerNorm norm_{nullptr};  // none where layers end with theirs
    model::Linear output_{nullptr};
    model::Linear context_{nullptr};  // of a profile head, as the next two
    at::Tensor sites_weight_, sites_bias_;
    OwnMotifs own_motifs_;
    model::KeptRotaryTable rotary_;
};
TORCH_MODULE(BinsNetwork);

/// Weights are uniform within 1 / sqrt(inputs), a tenth of that for the last layer; norms are 1 and 0, biases
/// 0, sharpness 2; no label has a motif of its own. With rotary positions half of the heads begin with
/// attention to near positions. In these heads the biases of queries and keys are equal, so that scores
/// decrease with distance (by the sum of 1 - cos of its angles). A function only of the seed and the
/// parameter's name.
void initialise(BinsNetworkImpl& network, std::uint64_t seed);
/// Initializes any network whose parts have these names, with the encoder of `config`.
void initialise(torch::nn::Module& network, const BinsConfig& config, std::uint64_t seed);

/// A 0, C 1, G 2, T 3, N 4.
std::uint8_t code_of(char base);
/// Codes of normalized sequence as base_channels() takes them: A 0, C 1, G 2, T 3, N 4; (length) uint8.
at::Tensor codes_of(std::string_view dna);

}  // namespace bigbird::bins
