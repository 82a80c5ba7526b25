// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/stem.hpp"

#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/secants.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace bigbird::bins {

namespace {

/// Whether the codes, (1, length) uint8, are each other's reverse complement.
bool are_opposite_strands(const at::Tensor& a, const at::Tensor& b) {
    constexpr std::uint8_t last_letter = 3;
    if (a.sizes() != b.sizes()) return false;
    const at::Tensor one = a.contiguous(), other = b.contiguous();
    const auto* const from = one.const_data_ptr<std::uint8_t>();
    return std::equal(from, from + one.numel(),
                      std::reverse_iterator(other.const_data_ptr<std::uint8_t>() + other.numel()),
                      [](std::uint8_t x, std::uint8_t y) {
                          return x <= last_letter ? y == last_letter - x : y > last_letter;
                      });
}

}  // namespace

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
    kept_.resize(config.stages.size());
}

void StemImpl::train(bool on) {
    kept_.assign(later_.size() + 1, {});
    last_.clear();
    torch::nn::Module::train(on);
}

/// make(), which is kept until a parameter or the mode changes; undefined where networks are trained, outside
/// CPUs, and for parameters that were made in inference mode.
template <typename Make>
at::Tensor StemImpl::kept(std::size_t stage, std::initializer_list<at::Tensor> parameters,
                          const Make& make) const {
    if (is_training() || at::GradMode::is_enabled() || !parameters.begin()->is_cpu()) return {};
    std::uint32_t version = 0;
    for (const at::Tensor& parameter : parameters) {
        if (parameter.is_inference()) return {};  // does not say when it was changed
        version += parameter._version();
    }
    const std::lock_guard lock(mutex_);
    Kept& own = kept_[stage];
    if (!own.value.defined() || own.version != version) {
        own = {make(), version};
        if (stage == 0) last_.clear();
    }
    return own.value;
}

StemImpl::Window StemImpl::own_last(Window next) const {
    const std::lock_guard lock(mutex_);
    return std::exchange(last_[std::this_thread::get_id()], std::move(next));
}

StemOutput StemImpl::first(const at::Tensor& bases, std::int64_t bin) const {
    FirstStage stage = first_;
    stage.bin = bin;
    stage.table = kept(0, {stage.weight, stage.bias, stage.sharpness}, [&] { return first_table(stage); });
    if (!stage.table.defined() || bases.dim() == 3 || bases.size(0) > 1 || !is_mirrored(stage))
        return first_stage(bases, stage);
    const Window last = own_last({});
    if (last.bin == bin && are_opposite_strands(last.bases, bases)) {
        const at::Tensor& sites = last.output.sites;
        return {last.output.positions.flip(1), sites.defined() ? sites.flip(1) : sites};
    }
    StemOutput output = first_stage(bases, stage);
    own_last({bases.clone(), bin, output});
    return output;
}

at::Tensor StemImpl::convolved(std::size_t i, const at::Tensor& x) const {
    LaterStage stage = later_[i - 1].convolution;
    stage.filters = kept(i, {stage.weight}, [&] { return later_filters(stage); });
    return later_stage(x, stage);
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
