// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/stem.hpp"

#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/secants.hpp"

#include <ATen/ATen.h>

namespace bigbird::bins {

StemImpl::StemImpl(const BinsConfig& config) {
    std::int64_t before = 4;  // letters
    for (std::size_t i = 0; i < config.stages.size(); ++i) {
        const Stage& stage = config.stages[i];
        const auto module = model::add_group(*this, std::to_string(i));
        const model::LayerNorm norm(before, config.encoder.layer_norm_eps);
        if (i > 0) module->register_module("norm", norm);
        const auto convolution = model::add_group(*module, "convolution");
        const at::Tensor weight = convolution->register_parameter(
                             "weight", at::zeros({stage.channels, before, stage.width})),
                         bias = convolution->register_parameter("bias", at::zeros({stage.channels})),
                         sharpness = model::add_group(*module, "pool")
                                         ->register_parameter("sharpness", at::zeros({stage.channels}));
        if (i == 0) {
            first_ = {.weight = weight,
                      .bias = bias,
                      .sharpness = sharpness,
                      .pool = stage.pool,
                      .both_strands = config.both_strands,
                      .motif_filters = config.motif_filters,
                      .bin = config.positions_per_bin() * config.position_bases()};
        } else {
            later_.push_back({{.norm = norm->weight,
                               .norm_bias = norm->bias,
                               .epsilon = norm->epsilon,
                               .weight = weight,
                               .bias = bias},
                              sharpness,
                              stage.pool});
        }
        before = stage.channels;
    }
}

StemOutput StemImpl::first(const at::Tensor& bases, std::int64_t bin) const {
    FirstStage stage = first_;
    stage.bin = bin;
    return first_stage(bases, stage);
}

at::Tensor StemImpl::convolved(std::size_t i, const at::Tensor& x) const {
    return later_stage(x, later_[i - 1].convolution);
}

at::Tensor StemImpl::pooled(std::size_t i, const at::Tensor& x) const {
    const Later& stage = later_[i - 1];
    if (stage.pool == 1) return x;
    return jointly(x, [&](const at::Tensor& y) { return softmax_pool(y, stage.sharpness, stage.pool); });
}

StemOutput StemImpl::forward(const at::Tensor& bases, std::int64_t bin) const {
    auto [x, sites] = first(bases, bin);
    for (std::size_t i = 1; i <= later_.size(); ++i)
        x = pooled(i, convolved(i, x));
    return {x, sites};
}

}  // namespace bigbird::bins
