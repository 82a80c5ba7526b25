// SPDX-License-Identifier: Apache-2.0
// From bases to positions: convolutions, each followed by learned pooling.
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/bins/first_stage.hpp"
#include "bigbird/bins/later_stage.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <vector>

namespace bigbird::bins {

/// The first stage is gelu(convolution), pooled; with both_strands, over the results of a filter and of its
/// reverse complement. The others are x + convolution(gelu(x)), pooled, x the LayerNorm of the input (without
/// "x +" where channels change).
class StemImpl : public torch::nn::Module {
public:
    explicit StemImpl(const BinsConfig& config);
    /// bases: (batch, length) uint8 codes or (batch, length, 4) floats, length a multiple of the bin.
    StemOutput forward(const at::Tensor& bases) const { return forward(bases, first_.bin); }
    /// forward() with bins of another size.
    StemOutput forward(const at::Tensor& bases, std::int64_t bin) const;
    /// The first stage of forward().
    StemOutput first(const at::Tensor& bases, std::int64_t bin) const;
    /// Stage `i` > 0 of (batch, length, channels): before pooling, and pooled.
    at::Tensor convolved(std::size_t i, const at::Tensor& x) const;
    at::Tensor pooled(std::size_t i, const at::Tensor& x) const;
    /// (channels, 4, width) of the first stage.
    at::Tensor first_filters() const { return first_.weight; }

private:
    struct Later {
        LaterStage convolution;
        at::Tensor sharpness;  // (channels)
        std::int64_t pool;
    };

    FirstStage first_;  // its bin is the default
    std::vector<Later> later_;
};
TORCH_MODULE(Stem);

}  // namespace bigbird::bins
