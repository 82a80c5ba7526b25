// SPDX-License-Identifier: Apache-2.0
#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/attention/attention_cases.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/core/system/processor.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <array>

using namespace bigbird;
using namespace bigbird::attention;
using namespace bigbird::testing;

namespace {

constexpr std::array<AttentionCase, 9> fused_cases{{{12, 16, 2, 2, 64, 3, RandomSource::uniform, 3},
                                                    {13, 16, 3, 1, 16, 3, RandomSource::hf, 0},
                                                    {16, 32, 2, 2, 24, 3, RandomSource::hf, 40},
                                                    {14, 64, 2, 2, 64, 3, RandomSource::uniform, 70},
                                                    {13, 64, 1, 1, 64, 3, RandomSource::hf, 1},
                                                    {6, 84, 2, 1, 64, 0, RandomSource::uniform, 90},
                                                    {7, 128, 1, 2, 32, 0, RandomSource::uniform, 130},
                                                    {3, 64, 2, 2, 64, 3, RandomSource::uniform, 70, true},
                                                    {5, 8, 2, 3, 7, 3, RandomSource::uniform, 3, true}}};

/// Computed in `type` by a kernel, or in fp64 by the reference (nullptr).
AttentionResults run(const AttentionCase& c, const LayerLayout& layout, at::ScalarType type,
                     const FusedKernel* kernel) {
    return bigbird::testing::run(
        c, type, kernel == nullptr ? at::kDouble : type,
        [&](const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& mask) {
            return kernel == nullptr ? reference_attention(q, k, v, mask, layout, {})
                                     : fused_attention(q, k, v, mask, layout, kernel);
        });
}

/// Every kernel for a type, on every case.
void check_kernels(at::ScalarType type, double tolerance) {
    for (const AttentionCase& c : fused_cases) {
        DOCTEST_CAPTURE(c.blocks);
        DOCTEST_CAPTURE(c.block_size);
        const LayerLayout layout = layout_of(c);
        const AttentionResults reference = run(c, layout, type, nullptr);
        for (const FusedKernel* kernel : fused_kernels(type == at::kBFloat16)) {
            DOCTEST_CAPTURE(kernel->name());
            check_near(run(c, layout, type, kernel), reference, tolerance);
        }
    }
}

}  // namespace

DOCTEST_TEST_CASE("fused_attention: every kernel equals the reference in fp64, forward and backward") {
    check_kernels(at::kFloat, 2e-6);
    check_kernels(at::kBFloat16, 8e-3);  // two units of the last place
}

DOCTEST_TEST_CASE("fused_attention: the same bytes for any number of threads, by groups and by blocks") {
    const int threads = at::get_num_threads();
    for (const bool bf16 : {false, true}) {
        for (const FusedKernel* kernel : fused_kernels(bf16)) {
            DOCTEST_CAPTURE(kernel->name());
            const AttentionCase& c = fused_cases[3];  // 4 groups: 3 threads go by blocks, 1 and 2 by groups
            const LayerLayout layout = layout_of(c);
            std::vector<AttentionResults> results;
            for (const int count : {1, 2, 3}) {
                at::set_num_threads(count);
                results.push_back(run(c, layout, bf16 ? at::kBFloat16 : at::kFloat, kernel));
            }
            DOCTEST_CHECK(identical(results[0], results[1]));
            DOCTEST_CHECK(identical(results[0], results[2]));
        }
    }
    at::set_num_threads(threads);
}

DOCTEST_TEST_CASE("fused_attention: scores far apart and large do not overflow") {
    const AttentionCase c{12, 16, 1, 1, 16, 3, RandomSource::hf, 0};
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
    const AttentionCase c{12, 16, 1, 1, 16, 3, RandomSource::hf, 0};
    const LayerLayout layout = layout_of(c);
    for (const int which : {0, 1, 2}) {
        std::array<at::Tensor, 3> x;
        for (std::size_t i = 0; i < 3; ++i)
            x[i] = random_tensor({1, 1, 192, 16}, i + 1).to(at::kFloat);
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
        const AttentionCase c{10, 16, 1, 2, 24, 0, RandomSource::uniform, 20};
        const LayerLayout layout = stack_layouts({make_layout(spec, 10, 0, 0)}, 16, at::kCPU);
        const AttentionResults reference = run(c, layout, at::kFloat, nullptr);
        for (const FusedKernel* kernel : fused_kernels(false)) {
            DOCTEST_CAPTURE(kernel->name());
            check_near(run(c, layout, at::kFloat, kernel), reference, 2e-6);
        }
        const at::Tensor q = random_tensor({2, 1, 160, 24}, 1), k = random_tensor({2, 1, 160, 24}, 2),
                         mask = at::ones({2, 160}, at::kBool);
        DOCTEST_CHECK(difference(sparse_attention(q, k, q, mask, layout, Backend::blocked),
                                 sparse_attention(q, k, q, mask, layout, Backend::reference)) < 1e-12);
    }
}

DOCTEST_TEST_CASE("fused_attention: the slopes of ALiBi, as the reference and as LibTorch's attention") {
    const AttentionCase c{3, 24, 3, 2, 40, 0, RandomSource::uniform, 30, true};
    LayerLayout layout = layout_of(c);
    const AttentionResults without = run(c, layout, at::kFloat, nullptr);
    layout.slopes = {0.5F, 0.0625F, 0.7F};
    const AttentionResults reference = run(c, layout, at::kFloat, nullptr);
    DOCTEST_CHECK(difference(reference.out, without.out) > 0.1);
    for (const FusedKernel* kernel : fused_kernels(false)) {
        DOCTEST_CAPTURE(kernel->name());
        check_near(run(c, layout, at::kFloat, kernel), reference, 2e-6);
    }
    for (const FusedKernel* kernel : fused_kernels(true)) {
        DOCTEST_CAPTURE(kernel->name());
        check_near(run(c, layout, at::kBFloat16, kernel), run(c, layout, at::kBFloat16, nullptr), 8e-3);
    }
    const at::Tensor q = random_tensor({2, 3, 72, 40}, 1), mask = at::ones({2, 72}, at::kBool);
    // By hand: the slope times the distance is taken from scores.
    const at::Tensor index = at::arange(72, at::kDouble);
    const at::Tensor distances = (index.unsqueeze(0) - index.unsqueeze(1)).abs(),
                     slopes = at::tensor({0.5, 0.0625, double{0.7F}}, at::kDouble).view({3, 1, 1});
    const at::Tensor wanted = at::matmul(
        at::softmax(at::matmul(q, q.transpose(2, 3)) / std::sqrt(40.0) - slopes * distances, -1), q);
    for (const Backend backend : {Backend::reference, Backend::automatic, Backend::blocked})
        DOCTEST_CHECK(difference(sparse_attention(q, q, q, mask, layout, backend), wanted) < 1e-7);
}

namespace {

std::vector<std::string> names(bool bf16) {
    std::vector<std::string> all;
    for (const FusedKernel* kernel : fused_kernels(bf16))
        all.push_back(kernel->name());
    return all;
}

}  // namespace

DOCTEST_TEST_CASE(
    "fused_dispatch: kernels are those of the instruction set that may be used, the newest first") {
    std::vector<std::string> wanted;
    if (instruction_set() >= InstructionSet::avx512) wanted.emplace_back("avx512");
    if (instruction_set() >= InstructionSet::avx2) wanted.emplace_back("avx2");
    DOCTEST_CHECK(names(false) == wanted);
    if (instruction_set() >= InstructionSet::avx512_bf16) wanted.insert(wanted.begin(), "avx512_bf16");
    if (instruction_set() >= InstructionSet::amx) wanted.insert(wanted.begin(), "amx");
    DOCTEST_CHECK(names(true) == wanted);
    DOCTEST_CHECK((elementwise_kernels() != nullptr) == (instruction_set() >= InstructionSet::avx2));
}
