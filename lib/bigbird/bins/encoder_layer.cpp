// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/encoder_layer.hpp"

#include "bigbird/bins/convolution.hpp"

#include <ATen/ATen.h>

#include <optional>
#include <vector>

namespace bigbird::bins {

namespace {

constexpr std::int64_t convolution_width = 3;

/// Every position attends all that `mask` (undefined: none left out) has. On a CPU the bits of LibTorch's
/// result depend on the thread that computes a sample; without gradients, as for scores, each sample is
/// therefore computed by itself.
at::Tensor attend_fully(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                        const at::Tensor& mask) {
    const auto attend = [](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                           const at::Tensor& of) {
        const auto keys = of.defined() ? std::optional(of.unsqueeze(1).unsqueeze(2)) : std::nullopt;
        return at::scaled_dot_product_attention(q, k, v, keys);
    };
    if (at::GradMode::is_enabled() || !query.is_cpu()) return attend(query, key, value, mask);
    std::vector<at::Tensor> contexts;
    for (std::int64_t sample = 0; sample < query.size(0); ++sample) {
        const auto own = [&](const at::Tensor& x) { return x.narrow(0, sample, 1).clone(); };
        contexts.push_back(
            attend(own(query), own(key), own(value), mask.defined() ? own(mask) : at::Tensor()));
    }
    return at::cat(contexts);
}

}  // namespace

EncoderLayerImpl::EncoderLayerImpl(const BinsConfig& config, int layer,
                                   std::shared_ptr<attention::LayoutCache> layouts)
    : layouts_(std::move(layouts)),
      activation_(config.encoder.hidden_act),
      dropout_(config.encoder.hidden_dropout_prob),
      heads_(config.encoder.num_attention_heads),
      layer_(layer),
      norm_first_(config.norm == model::Norm::pre) {
    const std::int64_t hidden = config.encoder.hidden_size, inner = config.encoder.intermediate_size;
    const double epsilon = config.encoder.layer_norm_eps;
    const bool attends = config.mixing == Mixing::attention;
    mixing_norm_ =
        register_module(attends ? "attention_norm" : "convolution_norm", model::LayerNorm(hidden, epsilon));
    if (attends) {
        register_attention(hidden);
    } else {
        register_convolution(hidden);
    }
    feed_forward_norm_ = register_module("feed_forward_norm", model::LayerNorm(hidden, epsilon));
    expand_ = register_module("feed_forward_in", model::Linear(hidden, inner));
    if (config.feed_forward == model::FeedForward::gated)
        gate_ = register_module("feed_forward_gate", model::Linear(hidden, inner));
    contract_ = register_module("feed_forward_out", model::Linear(inner, hidden));
}

void EncoderLayerImpl::register_attention(std::int64_t hidden) {
    query_ = register_module("query", model::Linear(hidden, hidden));
    key_ = register_module("key", model::Linear(hidden, hidden));
    value_ = register_module("value", model::Linear(hidden, hidden));
    attention_output_ = register_module("attention_output", model::Linear(hidden, hidden));
}

void EncoderLayerImpl::register_convolution(std::int64_t hidden) {
    const auto module = register_module("convolution", std::make_shared<torch::nn::Module>("convolution"));
    convolution_weight_ =
        module->register_parameter("weight", at::zeros({hidden, hidden, convolution_width}));
    convolution_bias_ = module->register_parameter("bias", at::zeros({hidden}));
}

at::Tensor EncoderLayerImpl::mix(const at::Tensor& x, const Pass& pass) const {
    if (query_) return attend(x, pass);
    const at::Tensor active = model::activation(activation_, x.clone());  // which may work in place
    return convolution(active, convolution_weight_, convolution_bias_, std::int64_t{1} << layer_);
}

at::Tensor EncoderLayerImpl::attend(const at::Tensor& x, const Pass& pass) const {
    const std::int64_t batch = x.size(0), positions = x.size(1), hidden = x.size(2);
    const auto by_head = [&](const at::Tensor& y) {
        return y.view({batch, positions, heads_, hidden / heads_}).transpose(1, 2);
    };
    const auto turned = [&](const at::Tensor& y) {
        return pass.rotary.cosine.defined() ? model::rotate(by_head(y), pass.rotary) : by_head(y);
    };
    const at::Tensor query = turned(query_->forward(x)), key = turned(key_->forward(x)),
                     value = by_head(value_->forward(x));
    at::Tensor context;  // (batch, heads, positions, head_dim)
    if (pass.blocks == 0) {
        context = attend_fully(query, key, value, pass.mask);
    } else {
        const auto layout = layouts_->get(pass.blocks, layer_, x.device(), is_training());
        context = attention::sparse_attention(query, key, value, pass.mask, *layout, pass.backend);
    }
    return attention_output_->forward(context.transpose(1, 2).reshape({batch, positions, hidden}));
}

at::Tensor EncoderLayerImpl::feed_forward(const at::Tensor& x) const {
    at::Tensor inner = expand_->forward_and_activate(x, activation_);
    if (gate_) inner = inner * gate_->forward(x);
    return contract_->forward(inner);
}

at::Tensor EncoderLayerImpl::dropped(const at::Tensor& x, model::DropoutSite::Place place,
                                     const Pass& pass) const {
    return is_training() ? model::dropout(x, dropout_, pass.key, {place, layer_}) : x;
}

at::Tensor EncoderLayerImpl::forward(const at::Tensor& x, const Pass& pass) const {
    using Place = model::DropoutSite::Place;
    if (norm_first_) {
        const at::Tensor y = x + dropped(mix(mixing_norm_->forward(x), pass), Place::attention_output, pass);
        return y + dropped(feed_forward(feed_forward_norm_->forward(y)), Place::output, pass);
    }
    const at::Tensor y = mixing_norm_->forward(x + dropped(mix(x, pass), Place::attention_output, pass));
    return feed_forward_norm_->forward(y + dropped(feed_forward(y), Place::output, pass));
}

}  // namespace bigbird::bins
