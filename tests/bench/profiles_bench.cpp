// SPDX-License-Identifier: Apache-2.0
// Networks of the BPNet family, 2114 bases to 1000, on as many threads as LibTorch takes: whole windows, and
// windows with 1, 60 or 600 substitutions. `product`: the largest rate of
// LibTorch's products, in multiply-adds per second. BIGBIRD_CPU limits the instruction set.
#include "bigbird/bins/stem.hpp"
#include "bigbird/networks/profiles/profile_network.hpp"

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

#include <cmath>
#include <utility>
#include <vector>

namespace {

using namespace bigbird;
using namespace bigbird::networks;

ProfileNet network_of(Trunk trunk, std::int64_t filters) {
    ProfileShape shape{.trunk = trunk, .filters = filters, .layers = trunk == Trunk::cherimoya ? 9 : 8};
    shape.counts = trunk == Trunk::cherimoya ? shape.output : shape.trunk_positions(shape.layers);
    ProfileNet network(std::vector<std::pair<std::string, ProfileShape>>{{"", shape}});
    const at::NoGradGuard no_gradients;
    for (const at::Tensor& parameter : network->parameters())
        parameter.normal_(0, 1 / std::sqrt(static_cast<double>(parameter[0].numel())));
    return network;
}

at::Tensor random_windows(std::int64_t count, const ProfileNet& network) {
    return at::randint(0, 4, {count, network->shape().input}, at::kByte);
}

void forward(benchmark::State& state, Trunk trunk, bool twin) {
    const at::NoGradGuard no_gradients;
    const ProfileNet network = network_of(trunk, state.range(0));
    const at::Tensor codes = random_windows(state.range(1), network);
    const auto compute = [&] {
        return twin ? network->forward(bins::base_channels(codes)) : network->scores(codes);
    };
    compute();
    for (auto _ : state)
        benchmark::DoNotOptimize(compute());
    state.SetItemsProcessed(state.iterations() * state.range(1));
}

/// A window and substitutions in it, three of each base in the middle: the profiles of a few, counts of many.
void edits(benchmark::State& state, Trunk trunk) {
    const at::NoGradGuard no_gradients;
    const std::int64_t count = state.range(1);
    const ProfileNet network = network_of(trunk, state.range(0));
    const at::Tensor codes = random_windows(1, network)[0];
    std::vector<bins::Substitution> each;
    for (std::int64_t i = 0; i < count; ++i) {
        const std::int64_t at = network->shape().input / 2 - count / 6 + i / 3;
        each.push_back({at, static_cast<std::uint8_t>((codes[at].item<std::int64_t>() + 1 + i % 3) % 4)});
    }
    const std::vector<std::vector<bins::Substitution>> edits{each};
    network->scores(codes.unsqueeze(0));
    for (auto _ : state) {
        if (count == 1) {
            benchmark::DoNotOptimize(network->scores(codes.unsqueeze(0), edits));
        } else {
            const EditedProfile edited(network, codes);
            benchmark::DoNotOptimize(edited.counts(each));
        }
    }
    state.SetItemsProcessed(state.iterations() * count);
}

void product(benchmark::State& state) {
    const at::NoGradGuard no_gradients;
    const at::Tensor a = at::randn({2048, state.range(0)}), b = at::randn({state.range(0), state.range(0)});
    for (auto _ : state)
        benchmark::DoNotOptimize(at::mm(a, b));
    state.SetItemsProcessed(state.iterations() * 2048 * state.range(0) * state.range(0));
}

}  // namespace

#define PROFILES_BENCH(name, ...)        \
    BENCHMARK_CAPTURE(name, __VA_ARGS__) \
        ->UseRealTime()                  \
        ->MeasureProcessCPUTime()        \
        ->Unit(benchmark::kMillisecond)

PROFILES_BENCH(forward, relu_after, Trunk::relu_after, false)->ArgsProduct({{512, 64}, {1, 16}});
PROFILES_BENCH(forward, cherimoya, Trunk::cherimoya, false)->ArgsProduct({{128}, {1, 16}});
PROFILES_BENCH(forward, twin, Trunk::relu_after, true)->ArgsProduct({{512, 64}, {1, 16}});
PROFILES_BENCH(edits, relu_after, Trunk::relu_after)->ArgsProduct({{512, 64}, {1, 60, 600}});
BENCHMARK(product)->Arg(512)->Arg(1024)->Arg(2048)->UseRealTime()->MeasureProcessCPUTime();

BENCHMARK_MAIN();
