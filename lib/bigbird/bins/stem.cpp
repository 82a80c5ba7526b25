// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/stem.hpp"

#include "bigbird/bins/convolution.hpp"

#include <ATen/ATen.h>

namespace bigbird::bins {

namespace {

constexpr std::int64_t letters = 4;

/// A nameless step of a dotted parameter name.
std::shared_ptr<torch::nn::Module> group(torch::nn::Module& parent, const std::string& name) {
    return parent.register_module(name, std::make_shared<torch::nn::Module>(name));
}

}  // namespace

at::Tensor base_channels(const at::Tensor& bases) {
    const at::Tensor codes = at::arange(letters, bases.options());
    return bases.unsqueeze(2).eq(codes).to(at::kFloat);
}

StemImpl::StemImpl(const BinsConfig& config)
    : both_strands_(config.both_strands), bin_(config.bin), motif_filters_(config.motif_filters) {
    std::int64_t before = letters;
    for (std::size_t i = 0; i < config.stages.size(); ++i) {
        const Stage& stage = config.stages[i];
        const auto module = group(*this, std::to_string(i));
        Layers& layers = stages_.emplace_back();
        if (i > 0) {
            layers.norm =
                module->register_module("norm", model::LayerNorm(before, config.encoder.layer_norm_eps));
        }
        const auto convolution = group(*module, "convolution");
        layers.weight =
            convolution->register_parameter("weight", at::zeros({stage.channels, before, stage.width}));
        layers.bias = convolution->register_parameter("bias", at::zeros({stage.channels}));
        layers.sharpness =
            group(*module, "pool")->register_parameter("sharpness", at::zeros({stage.channels}));
        layers.pool = stage.pool;
        before = stage.channels;
    }
}

at::Tensor StemImpl::best_sites(const at::Tensor& found) const {
    if (motif_filters_ == 0) return {};
    const std::int64_t channels = stages_.front().weight.size(0);
    return found.reshape({found.size(0), found.size(1) / bin_, -1, channels})
        .narrow(3, 0, motif_filters_)
        .amax(2);
}

StemOutput StemImpl::first(const at::Tensor& bases) const {
    const Layers& stage = stages_.front();
    const at::Tensor x = base_channels(bases);
    if (!both_strands_) {
        const at::Tensor found = convolution(x, stage.weight, stage.bias);
        return {softmax_pool(found, stage.sharpness, stage.pool, BeforePool::gelu), best_sites(found)};
    }
    // Turned round in bases and letters, a filter finds on this strand what it finds on the other.
    const at::Tensor weight = at::cat({stage.weight, stage.weight.flip({1, 2})});
    const at::Tensor both = convolution(x, weight, at::cat({stage.bias, stage.bias}));
    // (batch, length, strands x channels): the two strands of a base as two places.
    const at::Tensor places = both.reshape({x.size(0), 2 * x.size(1), stage.weight.size(0)});
    return {softmax_pool(places, stage.sharpness, 2 * stage.pool, BeforePool::gelu), best_sites(both)};
}

StemOutput StemImpl::forward(const at::Tensor& bases) const {
    auto [x, sites] = first(bases);
    for (std::size_t i = 1; i < stages_.size(); ++i) {
        const Layers& stage = stages_[i];
        const at::Tensor normed = stage.norm->forward(x);
        x = convolution(at::gelu(normed, "tanh"), stage.weight, stage.bias);
        if (x.size(2) == normed.size(2)) x = normed + x;
        x = softmax_pool(x, stage.sharpness, stage.pool, BeforePool::nothing);
    }
    return {x, sites};
}

}  // namespace bigbird::bins
