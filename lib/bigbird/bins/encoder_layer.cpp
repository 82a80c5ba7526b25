// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/encoder_layer.hpp"

#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/secants.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

namespace bigbird::bins {

namespace {

constexpr std::int64_t convolution_width = 3;

/// Every position attends all positions in `mask` (undefined: all). On a CPU, the last bits of LibTorch's
/// result depend on the thread that computes a sample. So without gradients, as for scores, each sample is
/// computed separately.
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

/// (batch, rows, hidden) of (batch, positions, hidden).
at::Tensor rows_of(const at::Tensor& x, const at::Tensor& rows) {
    return x.gather(1, rows.unsqueeze(2).expand({-1, -1, x.size(2)}));
}

/// The angles of positions, (batch, rows) int64, as (batch, 1, rows, head_dim / 2).
model::RotaryTable angles_at(const model::RotaryTable& table, const at::Tensor& rows) {
    const auto of = [&](const at::Tensor& angles) {
        return angles.index_select(0, rows.flatten()).view({rows.size(0), 1, rows.size(1), -1});
    };
    return {of(table.cosine), of(table.sine)};
}

/// Runs `compute` on a few rows at a time, so that a row's result depends on no other row (layers.hpp). x and
/// all results: (batch, rows, …).
template <typename Compute>
at::Tensor by_few_rows(const at::Tensor& x, const Compute& compute) {
    constexpr std::int64_t few = 64;
    std::vector<at::Tensor> all;
    const std::int64_t rows = x.size(0) * x.size(1);
    for (std::int64_t i = 0; i < rows; i += few)
        all.push_back(compute(i, std::min(few, rows - i)));
    return at::cat(all).view({x.size(0), x.size(1), -1});
}

at::Tensor of_few_rows(const model::Linear& linear, const at::Tensor& x) {
    const at::Tensor flat = x.flatten(0, 1);
    return by_few_rows(
        x, [&](std::int64_t i, std::int64_t few) { return linear.ptr()->forward(flat.narrow(0, i, few)); });
}

at::Tensor jointly_normed(const model::LayerNorm& norm, const at::Tensor& x) {
    return jointly(
        x, [&](const at::Tensor& y) { return norm->forward(y); });
}

}  // namespace

at::Tensor ChangedPositions::put(const at::Tensor& window, const at::Tensor& rows) const {
    return window.expand({rows.size(0), -1, -1})
        .clone(at::MemoryFormat::Contiguous)
        .scatter_(1, indices.unsqueeze(2).expand({-1, -1, rows.size(2)}), rows.to(window.scalar_type()));
}

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
        query_ = register_module("query", model::Linear(hidden, hidden));
        key_ = register_module("key", model::Linear(hidden, hidden));
        value_ = register_module("value", model::Linear(hidden, hidden));
        attention_output_ = register_module("attention_output", model::Linear(hidden, hidden));
    } else {
        const auto module = model::add_group(*this, "convolution");
        convolution_weight_ =
            module->register_parameter("weight", at::zeros({hidden, hidden, convolution_width}));
        convolution_bias_ = module->register_parameter("bias", at::zeros({hidden}));
    }
    feed_forward_norm_ = register_module("feed_forward_norm", model::LayerNorm(hidden, epsilon));
    expand_ = register_module("feed_forward_in", model::Linear(hidden, inner));
    if (config.feed_forward == model::FeedForward::gated)
        gate_ = register_module("feed_forward_gate", model::Linear(hidden, inner));
    contract_ = register_module("feed_forward_out", model::Linear(inner, hidden));
}

at::Tensor EncoderLayerImpl::mix(const at::Tensor& x, const Pass& pass) const {
    if (query_) return attend(x, pass);
    const at::Tensor active = elementwise(
        x, [&](const at::Tensor& y) { return model::activation(activation_, y.clone()); });  // in place
    return convolution(active, convolution_weight_, convolution_bias_, std::int64_t{1} << layer_);
}

at::Tensor EncoderLayerImpl::by_head(const at::Tensor& x) const {
    return x.view({x.size(0), x.size(1), heads_, x.size(2) / heads_}).transpose(1, 2);
}

at::Tensor EncoderLayerImpl::turned_by_head(const at::Tensor& x, const model::RotaryTable& rotary) const {
    return rotary.cosine.defined() ? model::rotate(by_head(x), rotary) : by_head(x);
}

at::Tensor EncoderLayerImpl::attend(const at::Tensor& x, const Pass& pass) const {
    const auto context = [&](const at::Tensor& query, const at::Tensor& key, const at::Tensor& value,
                             const Pass& by) {
        return context_of({turned_by_head(query, by.rotary), turned_by_head(key, by.rotary), by_head(value)},
                          by);
    };
    if (!takes_secants()) {
        return attention_output_->forward(
            context(query_->forward(x), key_->forward(x), value_->forward(x), pass));
    }
    const at::Tensor both = at::cat({query_->forward(x), key_->forward(x), value_->forward(x)}, 2);
    return attention_output_->forward(jointly(both, [&](const at::Tensor& y) {
        const std::vector<at::Tensor> parts = y.chunk(3, 2);
        Pass own = pass;  // samples of a batch with secants have one mask
        if (own.mask.defined()) own.mask = own.mask.narrow(0, 0, 1).expand({y.size(0), -1});
        return context(parts[0], parts[1], parts[2], own);
    }));
}

at::Tensor EncoderLayerImpl::context_of(const Projections& of, const Pass& pass) const {
    const at::Tensor context =  // (batch, heads, positions, head_dim)
        pass.blocks == 0
            ? attend_fully(of.query, of.key, of.value, pass.mask)
            : attention::sparse_attention(
                  of.query, of.key, of.value, pass.mask,
                  *layouts_->get(pass.blocks, layer_, of.query.device(), is_training()), pass.backend);
    return context.transpose(1, 2).flatten(2);
}

Projections EncoderLayerImpl::projected(const at::Tensor& normed, const model::RotaryTable& rotary,
                                        bool few) const {
    const auto of = [&](const model::Linear& linear) {
        return few ? of_few_rows(linear, normed) : linear.ptr()->forward(normed);
    };
    const auto turned = [&](const at::Tensor& y) {
        return rotary.cosine.defined() ? turned_by_head(y, rotary).transpose(1, 2).reshape(y.sizes()) : y;
    };
    return {turned(of(query_)), turned(of(key_)), of(value_)};
}

Projections EncoderLayerImpl::project(const at::Tensor& window, const Pass& pass) const {
    if (!query_) return {};
    return projected(norm_first_ ? mixing_norm_->forward(window) : window, pass.rotary, false);
}

at::Tensor EncoderLayerImpl::context_at(const at::Tensor& normed, const at::Tensor& rows,
                                        const Pass& pass) const {
    if (pass.blocks > 0 && !layouts_->get(pass.blocks, layer_, normed.device(), false)->full) {
        const Projections all = projected(normed, pass.rotary, false);
        return rows_of(context_of({by_head(all.query), by_head(all.key), by_head(all.value)}, pass), rows);
    }
    model::RotaryTable rotary;
    if (pass.rotary.cosine.defined()) rotary = angles_at(pass.rotary, rows);
    const at::Tensor query = turned_by_head(of_few_rows(query_, rows_of(normed, rows)), rotary),
                     key = turned_by_head(key_->forward(normed), pass.rotary);
    const double scale = 1 / std::sqrt(static_cast<double>(query.size(3)));
    const at::Tensor weights = at::softmax(at::matmul(query * scale, key.transpose(2, 3)), -1);
    return at::matmul(weights, by_head(value_->forward(normed)))
        .transpose(1, 2)
        .reshape({rows.size(0), rows.size(1), normed.size(2)});
}

at::Tensor EncoderLayerImpl::forward_changed(const at::Tensor& x, const ChangedPositions& changed,
                                             const Projections& window, const Pass& pass) const {
    if (!query_) return forward(x, pass);
    model::RotaryTable rotary;
    if (pass.rotary.cosine.defined()) rotary = angles_at(pass.rotary, changed.indices);
    const Projections rows =
        projected(norm_first_ ? mixing_norm_->forward(changed.values) : changed.values, rotary, true);
    const at::Tensor context = context_of(
        {by_head(changed.put(window.query, rows.query)), by_head(changed.put(window.key, rows.key)),
         by_head(changed.put(window.value, rows.value))},
        pass);
    return add_up(x, attention_output_->forward(context), pass);
}

at::Tensor EncoderLayerImpl::forward_at(const at::Tensor& x, const at::Tensor& rows, const Pass& pass) const {
    const at::Tensor normed = norm_first_ ? mixing_norm_->forward(x) : x, chosen = rows_of(x, rows),
                     mixed = query_ ? of_few_rows(attention_output_, context_at(normed, rows, pass))
                                    : rows_of(mix(normed, pass), rows);
    const at::Tensor flat = chosen.flatten(0, 1), more = mixed.flatten(0, 1);
    return by_few_rows(chosen, [&](std::int64_t i, std::int64_t few) {
        return add_up(flat.narrow(0, i, few), more.narrow(0, i, few), pass);
    });
}

at::Tensor EncoderLayerImpl::feed_forward(const at::Tensor& x) const {
    if (!takes_secants()) {
        const at::Tensor inner = expand_->forward_and_activate(x, activation_);
        return contract_->forward(gate_ ? inner * gate_->forward(x) : inner);
    }
    const at::Tensor inner = elementwise(
        expand_->forward(x), [&](const at::Tensor& y) { return model::activation(activation_, y.clone()); });
    if (!gate_) return contract_->forward(inner);
    return contract_->forward(jointly(at::cat({inner, gate_->forward(x)}, 2), [](const at::Tensor& y) {
        const std::vector<at::Tensor> parts = y.chunk(2, 2);
        return parts[0] * parts[1];
    }));
}

at::Tensor EncoderLayerImpl::dropped(const at::Tensor& x, model::DropoutSite::Place place,
                                     const Pass& pass) const {
    return is_training() ? model::dropout(x, dropout_, pass.key, {place, layer_}) : x;
}

at::Tensor EncoderLayerImpl::forward(const at::Tensor& x, const Pass& pass) const {
    return add_up(x, mix(norm_first_ ? jointly_normed(mixing_norm_, x) : x, pass), pass);
}

at::Tensor EncoderLayerImpl::add_up(const at::Tensor& x, const at::Tensor& mixed, const Pass& pass) const {
    using Place = model::DropoutSite::Place;
    const at::Tensor sum = x + dropped(mixed, Place::attention_output, pass);
    if (norm_first_)
        return sum + dropped(feed_forward(jointly_normed(feed_forward_norm_, sum)), Place::output, pass);
    const at::Tensor y = jointly_normed(mixing_norm_, sum);
    return jointly_normed(feed_forward_norm_, y + dropped(feed_forward(y), Place::output, pass));
}

}  // namespace bigbird::bins
