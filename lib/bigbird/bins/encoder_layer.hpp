// SPDX-License-Identifier: Apache-2.0
// A layer of the encoder over positions: block-sparse attention with rotary positions, and a feed-forward
// block. (batch, positions, hidden) throughout.
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/bins/config.hpp"
#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/layers.hpp"

#include <torch/nn/module.h>
#include <torch/nn/pimpl.h>

#include <memory>

namespace bigbird::bins {

/// Data that all layers of one forward pass share.
struct Pass {
    at::Tensor mask;            ///< (batch, positions) bool, true for real positions; undefined: all are real
    model::RotaryTable rotary;  ///< undefined without rotary positions
    model::DropoutKey key;
    attention::Backend backend = attention::Backend::automatic;
    int blocks = 0;  ///< full blocks of positions; 0: every position attends all, for any number
};

/// Attention's inputs of windows, (batch, positions, hidden), turned by rotary positions.
struct Projections {
    at::Tensor query, key, value;
};

/// Windows that differ from one in a few positions.
struct ChangedPositions {
    at::Tensor values;   ///< (batch, changed, hidden)
    at::Tensor indices;  ///< (batch, changed) int64
    /// Copies of a window's (1, positions, hidden) with `rows`, (batch, changed, hidden), at `indices`.
    at::Tensor put(const at::Tensor& window, const at::Tensor& rows) const;
};

class EncoderLayerImpl : public torch::nn::Module {
public:
    EncoderLayerImpl(const BinsConfig& config, int layer, std::shared_ptr<attention::LayoutCache> layouts);
    at::Tensor forward(const at::Tensor& x, const Pass& pass) const;
    /// Queries, keys and values of an unchanged window in evaluation mode, for forward_changed().
    Projections project(const at::Tensor& window, const Pass& pass) const;
    /// forward() of x, which differs from that window in `changed`; without attention it is plain forward().
    at::Tensor forward_changed(const at::Tensor& x, const ChangedPositions& changed,
                               const Projections& window, const Pass& pass) const;
    /// The rows of forward(x) at `rows`, (batch, rows) int64: (batch, rows, hidden).
    at::Tensor forward_at(const at::Tensor& x, const at::Tensor& rows, const Pass& pass) const;

private:
    /// (batch, positions, hidden) -> (batch, heads, positions, head_dim), and turned by the angles.
    at::Tensor by_head(const at::Tensor& x) const;
    at::Tensor turned_by_head(const at::Tensor& x, const model::RotaryTable& rotary) const;
    Projections projected(const at::Tensor& normed, const model::RotaryTable& rotary, bool few) const;
    /// Attention before its output layer; the parts of `of` are by head.
    at::Tensor context_of(const Projections& of, const Pass& pass) const;
    at::Tensor context_at(const at::Tensor& normed, const at::Tensor& rows, const Pass& pass) const;
    /// Attention, or the convolution that replaces it.
    at::Tensor mix(const at::Tensor& x, const Pass& pass) const;
    at::Tensor attend(const at::Tensor& x, const Pass& pass) const;
    /// The steps after mix().
    at::Tensor add_up(const at::Tensor& x, const at::Tensor& mixed, const Pass& pass) const;
    at::Tensor feed_forward(const at::Tensor& x) const;
    at::Tensor dropped(const at::Tensor& x, model::DropoutSite::Place place, const Pass& pass) const;

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
