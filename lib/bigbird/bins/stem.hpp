// SPDX-License-Identifier: Apache-2.0
// From bases to positions: convolutions, each followed by learnt pooling.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/bins/softmax_pool.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <vector>

namespace bigbird::bins {

/// A C G T 0 to 3, N (and all else) 4: (batch, length) uint8 -> (batch, length, 4) float32, N all 0.
at::Tensor base_channels(const at::Tensor& bases);

struct StemOutput {
    at::Tensor positions;  // (batch, length / position_bases, channels of the last stage)
    /// (batch, length / bin, motif_filters): what each of the first filters finds in a bin at most, on either
    /// strand where both are read, before gelu; undefined without motif_filters.
    at::Tensor sites;
};

/// The first stage is gelu(convolution), pooled; of both strands, where the configuration says so, over what
/// a filter and its reverse complement find; the others are x + convolution(gelu(x)), x the LayerNorm of what
/// comes in (without "x +" where channels change), pooled.
class StemImpl : public torch::nn::Module {
public:
    explicit StemImpl(const BinsConfig& config);
    /// bases: (batch, length) uint8 codes, length a multiple of the bin.
    StemOutput forward(const at::Tensor& bases) const;
    /// (channels, 4, width) of the first stage.
    at::Tensor first_filters() const { return stages_.front().weight; }

private:
    struct Layers {
        at::Tensor weight, bias;  // (channels, channels before, width), (channels)
        at::Tensor sharpness;     // (channels)
        model::LayerNorm norm{nullptr};
        std::int64_t pool = 1;
    };
    StemOutput first(const at::Tensor& bases) const;
    /// found: (batch, length, strands x channels)
    at::Tensor best_sites(const at::Tensor& found) const;

    std::vector<Layers> stages_;
    bool both_strands_;
    std::int64_t bin_, motif_filters_;
};
TORCH_MODULE(Stem);

}  // namespace bigbird::bins
