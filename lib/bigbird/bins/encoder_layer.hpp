// SPDX-License-Identifier: Apache-2.0
// A layer of the encoder over positions: block-sparse attention with rotary positions, and a feed-forward
// block. (batch, positions, hidden) throughout.
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/bins/config.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/layers.hpp"
#include "bigbird/model/layers/rotary.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <memory>

namespace bigbird::bins {

/// What all layers of one pass share.
struct Pass {
    at::Tensor mask;            ///< (batch, positions) bool, true where there is one; undefined: all are
    model::RotaryTable rotary;  ///< undefined without rotary positions
    model::DropoutKey key;
    attention::Backend backend = attention::Backend::automatic;
    int blocks = 0;  ///< whole blocks of positions; 0: every position attends all, however many there are
};

class EncoderLayerImpl : public torch::nn::Module {
public:
    EncoderLayerImpl(const BinsConfig& config, int layer, std::shared_ptr<attention::LayoutCache> layouts);
    at::Tensor forward(const at::Tensor& x, const Pass& pass) const;

private:
    /// Attention, or the convolution that stands for it.
    at::Tensor mix(const at::Tensor& x, const Pass& pass) const;
    at::Tensor attend(const at::Tensor& x, const Pass& pass) const;
    at::Tensor feed_forward(const at::Tensor& x) const;
    at::Tensor dropped(const at::Tensor& x, model::DropoutSite::Place place, const Pass& pass) const;

    void register_attention(std::int64_t hidden);
    void register_convolution(std::int64_t hidden);

    at::Tensor convolution_weight_, convolution_bias_;  // (hidden, hidden, 3), (hidden); undefined: attention
    model::LayerNorm mixing_norm_{nullptr}, feed_forward_norm_{nullptr};
    model::Linear query_{nullptr}, key_{nullptr}, value_{nullptr}, attention_output_{nullptr},
        expand_{nullptr}, gate_{nullptr}, contract_{nullptr};
    std::shared_ptr<attention::LayoutCache> layouts_;
    std::string activation_;
    double dropout_;
    std::int64_t heads_;
    int layer_;
    bool norm_first_;
};
TORCH_MODULE(EncoderLayer);

}  // namespace bigbird::bins
