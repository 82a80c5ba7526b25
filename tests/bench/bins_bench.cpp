// SPDX-License-Identifier: Apache-2.0
// The stages of bigbird-bins' stem, preset tiny, by our kernels and by their slow twins: 2 windows of 12,800
// bases, on as many threads as LibTorch takes. BIGBIRD_CPU limits the instruction set.
#include "bigbird/bins/first_stage.hpp"
#include "bigbird/bins/later_stage.hpp"

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

}  // namespace

BENCHMARK_CAPTURE(first_stage_case, fast, first_stage)->ArgName("trains")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK_CAPTURE(first_stage_case, slow, first_stage_reference)
    ->ArgName("trains")
    ->Arg(0)
    ->Arg(1)
    ->UseRealTime();
BENCHMARK_CAPTURE(later_stage_case, fast, later_stage)->ArgName("trains")->Arg(0)->Arg(1)->UseRealTime();
BENCHMARK_CAPTURE(later_stage_case, slow, later_stage_reference)
    ->ArgName("trains")
    ->Arg(0)
    ->Arg(1)
    ->UseRealTime();

BENCHMARK_MAIN();
