// SPDX-License-Identifier: Apache-2.0
// The stages of bigbird-bins' stem, preset tiny, by our kernels and by their slow twins: 2 windows of 12,800
// bases; and substitutions in a window of tiny and small, by slices and by whole windows. On as many threads
// as LibTorch takes. BIGBIRD_CPU limits the instruction set.
#include "bigbird/bins/stem.hpp"
#include "bigbird/bins/substitutions.hpp"

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

namespace {

using namespace bigbird::bins;

constexpr std::int64_t windows = 2, bases = 12800, channels = 128;

FirstStage first() {
    return {.weight = at::randn({channels, 4, 21}).mul_(0.2).requires_grad_(),
            .bias = at::randn({channels}).requires_grad_(),
            .sharpness = at::full({channels}, 2.0).requires_grad_(),
            .pool = 4,
            .both_strands = true,
            .motif_filters = 48,
            .bin = 200};
}

LaterStage later() {
    return {.norm = at::ones({channels}).requires_grad_(),
            .norm_bias = at::zeros({channels}).requires_grad_(),
            .epsilon = 1e-5,
            .weight = at::randn({channels, channels, 5}).mul_(0.04).requires_grad_(),
            .bias = at::randn({channels}).requires_grad_()};
}

/// Forward, and with `trains` backward.
void run(benchmark::State& state, bool trains, const auto& compute) {
    const at::AutoGradMode gradients(trains);
    for (auto _ : state) {
        const at::Tensor y = compute();
        if (trains) y.sum().backward();
    }
    state.SetItemsProcessed(state.iterations() * windows * bases);
}

void first_stage_case(benchmark::State& state, decltype(&first_stage) compute) {
    const at::Tensor codes = at::randint(0, 4, {windows, bases}, at::kByte);
    const FirstStage stage = first();
    run(state, state.range(0) == 1, [&] {
        const StemOutput out = compute(codes, stage);
        return out.positions.sum() + out.sites.sum();
    });
}

void later_stage_case(benchmark::State& state, decltype(&later_stage) compute) {
    const at::Tensor x = at::randn({windows, bases / 4, channels}).requires_grad_();
    const LaterStage stage = later();
    run(state, state.range(0) == 1, [&] { return compute(x, stage); });
}

/// Items are substitutions.
void substitution_case(benchmark::State& state, const char* name, bool slices) {
    const at::NoGradGuard no_gradients;
    const BinsConfig config = preset(name);
    BinsNetwork network(config, 109);
    initialise(*network, 1);
    network->eval();
    const at::Tensor window = at::randint(0, 4, {config.window_bases()}, at::kByte);
    std::vector<Substitution> each;
    for (std::int64_t i = 0; i < state.range(0); ++i)
        each.push_back({config.window_bases() / 2 + i, 1});
    const at::Tensor bins = at::full({std::ssize(each), 1}, config.window_bins / 2, at::kLong);
    const SubstitutedWindow substituted(network, window);
    for (auto _ : state) {
        benchmark::DoNotOptimize(slices ? substituted.features(each, bins)
                                        : substituted_features_reference(network, window, each, bins));
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
}

}  // namespace

BENCHMARK_CAPTURE(first_stage_case, fast, first_stage)->ArgName("trains")->DenseRange(0, 1)->UseRealTime();
BENCHMARK_CAPTURE(first_stage_case, slow, first_stage_reference)
    ->ArgName("trains")
    ->DenseRange(0, 1)
    ->UseRealTime();
BENCHMARK_CAPTURE(later_stage_case, fast, later_stage)->ArgName("trains")->DenseRange(0, 1)->UseRealTime();
BENCHMARK_CAPTURE(later_stage_case, slow, later_stage_reference)
    ->ArgName("trains")
    ->DenseRange(0, 1)
    ->UseRealTime();
BENCHMARK_CAPTURE(substitution_case, tiny_slices, "tiny", true)
    ->RangeMultiplier(4)
    ->Range(1, 64)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(substitution_case, tiny_windows, "tiny", false)
    ->Arg(4)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(substitution_case, small_slices, "small", true)
    ->RangeMultiplier(4)
    ->Range(1, 16)
    ->UseRealTime()
    ->MeasureProcessCPUTime();
BENCHMARK_CAPTURE(substitution_case, small_windows, "small", false)
    ->Arg(4)
    ->UseRealTime()
    ->MeasureProcessCPUTime();

BENCHMARK_MAIN();
