// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/attention/cuda/device/stacked_layout.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <array>

using namespace bigbird::attention;
using bigbird::testing::difference;
using bigbird::testing::identical;
using bigbird::testing::random_tensor;

namespace {

struct Case {
    int blocks, block_size, heads, batch, head_dim, random_blocks;
    RandomSource source;
    bool full;
    std::int64_t padded;  ///< tokens at the end of the last sample that are padding
};

constexpr std::array<Case, 9> cases{{{12, 16, 2, 2, 64, 3, RandomSource::uniform, false, 3},
                                     {13, 16, 3, 1, 16, 3, RandomSource::hf, false, 0},
                                     {16, 32, 2, 2, 24, 3, RandomSource::hf, false, 40},
                                     {14, 64, 2, 2, 64, 3, RandomSource::uniform, false, 70},
                                     {13, 64, 1, 1, 64, 3, RandomSource::hf, false, 1},
                                     {6, 84, 2, 1, 64, 0, RandomSource::uniform, false, 90},
                                     {7, 128, 1, 2, 32, 0, RandomSource::uniform, false, 130},
                                     {3, 64, 2, 2, 64, 3, RandomSource::uniform, true, 70},
                                     {5, 8, 2, 3, 7, 3, RandomSource::uniform, true, 3}}};

struct Results {
    at::Tensor out, dq, dk, dv;
};

LayerLayout layout_of(const Case& c) {
    PatternSpec spec;
    spec.block_size = c.block_size;
    spec.random_blocks = c.random_blocks;
    spec.random_source = c.source;
    spec.full = c.full;
    return bigbird::testing::stacked_layout(spec, c.blocks, c.heads);
}

/// Inputs that `type` holds exactly, computed in `type` by a kernel, or in fp64 by the reference (nullptr).
Results run(const Case& c, const LayerLayout& layout, at::ScalarType type, const FusedKernel* kernel) {
    const std::int64_t length = std::int64_t{c.blocks} * c.block_size;
    const std::vector<std::int64_t> shape{c.batch, length, c.heads, c.head_dim};
    const at::ScalarType in = kernel == nullptr ? at::kDouble : type;
    const auto leaf = [&](std::uint64_t seed) {
        return (random_tensor(shape, seed, at::kDouble) * 1.5).to(type).to(in).requires_grad_();
    };
    const at::Tensor q = leaf(1), k = leaf(2), v = leaf(3),
                     weights = random_tensor(shape, 4, at::kDouble).to(type).to(in).transpose(1, 2);
    at::Tensor mask = at::ones({c.batch, length}, at::kBool);
    mask[c.batch - 1].slice(0, length - c.padded).fill_(false);
    const auto by_head = [](const at::Tensor& x) { return x.transpose(1, 2); };
    const at::Tensor out = kernel == nullptr
                               ? reference_attention(by_head(q), by_head(k), by_head(v), mask, layout, {})
                               : fused_attention(by_head(q), by_head(k), by_head(v), mask, layout, kernel);
    (out * weights).sum().backward();
    return {out.detach(), q.grad(), k.grad(), v.grad()};
}

void check(const Results& found, const Results& wanted, double tolerance) {
    for (const auto& [a, b] : {std::pair(found.out, wanted.out), std::pair(found.dq, wanted.dq),
                               std::pair(found.dk, wanted.dk), std::pair(found.dv, wanted.dv)}) {
        DOCTEST_CHECK(difference(a, b) < tolerance * (1 + b.abs().max().item<double>()));
    }
}

}  // namespace

DOCTEST_TEST_CASE("fused_attention: every kernel equals the reference in fp64, forward and backward, fp32") {
    if (fused_kernels(false).empty()) {
        return;
    }
    for (const Case& c : cases) {
        DOCTEST_CAPTURE(c.blocks);
        DOCTEST_CAPTURE(c.block_size);
        const LayerLayout layout = layout_of(c);
        const Results reference = run(c, layout, at::kFloat, nullptr);
        for (const FusedKernel* kernel : fused_kernels(false)) {
            DOCTEST_CAPTURE(kernel->name());
            check(run(c, layout, at::kFloat, kernel), reference, 2e-6);
        }
    }
}

DOCTEST_TEST_CASE("fused_attention: every kernel is near the reference in bf16, forward and backward") {
    for (const Case& c : cases) {
        DOCTEST_CAPTURE(c.blocks);
        DOCTEST_CAPTURE(c.block_size);
        const LayerLayout layout = layout_of(c);
        const Results reference = run(c, layout, at::kBFloat16, nullptr);
        for (const FusedKernel* kernel : fused_kernels(true)) {
            DOCTEST_CAPTURE(kernel->name());
            check(run(c, layout, at::kBFloat16, kernel), reference, 8e-3);  // two units of the last place
        }
    }
}

DOCTEST_TEST_CASE("fused_attention: the same bytes for any number of threads, by groups and by blocks") {
    const int threads = at::get_num_threads();
    for (const bool bf16 : {false, true}) {
        for (const FusedKernel* kernel : fused_kernels(bf16)) {
            DOCTEST_CAPTURE(kernel->name());
            const Case& c = cases[3];  // 4 groups: 3 threads go by blocks, 1 and 2 by groups
            const LayerLayout layout = layout_of(c);
            std::vector<Results> results;
            for (const int count : {1, 2, 3}) {
                at::set_num_threads(count);
                results.push_back(run(c, layout, bf16 ? at::kBFloat16 : at::kFloat, kernel));
            }
            for (std::size_t i = 1; i < results.size(); ++i) {
                DOCTEST_CHECK(identical(results[0].out, results[i].out));
                DOCTEST_CHECK(identical(results[0].dq, results[i].dq));
                DOCTEST_CHECK(identical(results[0].dk, results[i].dk));
                DOCTEST_CHECK(identical(results[0].dv, results[i].dv));
            }
        }
    }
    at::set_num_threads(threads);
}

DOCTEST_TEST_CASE("fused_attention: scores far apart and large do not overflow") {
    const Case c{12, 16, 1, 1, 16, 3, RandomSource::hf, false, 0};
    const LayerLayout layout = layout_of(c);
    const at::Tensor q = random_tensor({1, 1, 192, 16}, 1).to(at::kFloat) * 60, k = q.flip({2}), v = q / 60,
                     mask = at::ones({1, 192}, at::kBool);
    const at::Tensor reference =
        reference_attention(q.to(at::kDouble), k.to(at::kDouble), v.to(at::kDouble), mask, layout, {});
    for (const FusedKernel* kernel : fused_kernels(false)) {
        const at::Tensor out = fused_attention(q, k, v, mask, layout, kernel);
        DOCTEST_CHECK(difference(out, reference) < 2e-3);  // scores of 10^4 in fp32
    }
}

DOCTEST_TEST_CASE("fused_attention: a value that is no number shows in the result") {
    const Case c{12, 16, 1, 1, 16, 3, RandomSource::hf, false, 0};
    const LayerLayout layout = layout_of(c);
    for (const int which : {0, 1, 2}) {
        std::array<at::Tensor, 3> x;
        for (std::size_t i = 0; i < 3; ++i) {
            x[i] = random_tensor({1, 1, 192, 16}, i + 1).to(at::kFloat);
        }
        x[static_cast<std::size_t>(which)].view(-1)[5 * 16 * 16] = std::nanf("");
        for (const FusedKernel* kernel : fused_kernels(false)) {
            const at::Tensor out =
                fused_attention(x[0], x[1], x[2], at::ones({1, 192}, at::kBool), layout, kernel);
            DOCTEST_CHECK(out.isnan().any().item<bool>());
        }
    }
}

DOCTEST_TEST_CASE("fused_attention: element masks, as the reference and as blocked") {
    PatternSpec spec;
    spec.kind = PatternKind::longformer;
    spec.block_size = 16;
    for (const auto& [window, dilation, globals] :
         {std::tuple(20, 1, 0), std::tuple(7, 3, 0), std::tuple(9, 1, 5)}) {
        spec.window_tokens = window;
        spec.dilation = dilation;
        spec.global_tokens = globals;
        const Case c{10, 16, 1, 2, 24, 0, RandomSource::uniform, false, 20};
        const LayerLayout layout = stack_layouts({make_layout(spec, 10, 0, 0)}, 16, at::kCPU);
        const Results reference = run(c, layout, at::kFloat, nullptr);
        for (const FusedKernel* kernel : fused_kernels(false)) {
            DOCTEST_CAPTURE(kernel->name());
            check(run(c, layout, at::kFloat, kernel), reference, 2e-6);
        }
        const at::Tensor q = random_tensor({2, 1, 160, 24}, 1), k = random_tensor({2, 1, 160, 24}, 2),
                         mask = at::ones({2, 160}, at::kBool);
        DOCTEST_CHECK(difference(sparse_attention(q, k, q, mask, layout, Backend::blocked),
                                 sparse_attention(q, k, q, mask, layout, Backend::reference)) < 1e-12);
    }
}
