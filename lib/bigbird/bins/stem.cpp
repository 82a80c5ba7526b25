// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/stem.hpp"

#include "bigbird/bins/later_stage.hpp"
#include "bigbird/bins/secants.hpp"
#include "bigbird/bins/softmax_pool.hpp"

#include <ATen/ATen.h>

namespace bigbird::bins {

namespace {

constexpr std::int64_t letters = 4;

/// Adds an empty module, for one component of a dotted parameter name.
std::shared_ptr<torch::nn::Module> group(torch::nn::Module& parent, const std::string& name) {
    return parent.register_module(name, std::make_shared<torch::nn::Module>(name));
}

}  // namespace

StemImpl::StemImpl(const BinsConfig& config)
    : both_strands_(config.both_strands),
      bin_(config.positions_a_bin() * config.position_bases()),
      motif_filters_(config.motif_filters) {
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

StemOutput StemImpl::first(const at::Tensor& bases, std::int64_t bin) const {
    const Layers& start = stages_.front();
    return first_stage(bases, {.weight = start.weight,
                               .bias = start.bias,
                               .sharpness = start.sharpness,
                               .pool = start.pool,
                               .both_strands = both_strands_,
                               .motif_filters = motif_filters_,
                               .bin = bin});
}

at::Tensor StemImpl::convolved(std::size_t i, const at::Tensor& x) const {
    const Layers& stage = stages_[i];
    return later_stage(x, {.norm = stage.norm->weight,
                           .norm_bias = stage.norm->bias,
                           .epsilon = stage.norm->epsilon(),
                           .weight = stage.weight,
                           .bias = stage.bias});
}

at::Tensor StemImpl::pooled(std::size_t i, const at::Tensor& x) const {
    const Layers& stage = stages_[i];
    if (stage.pool == 1) return x;
    return jointly(x, [&](const at::Tensor& y) { return softmax_pool(y, stage.sharpness, stage.pool); });
}

StemOutput StemImpl::forward(const at::Tensor& bases, std::int64_t bin) const {
    auto [x, sites] = first(bases, bin);
    for (std::size_t i = 1; i < stages_.size(); ++i)
        x = pooled(i, convolved(i, x));
    return {x, sites};
}

}  // namespace bigbird::bins
