// SPDX-License-Identifier: Apache-2.0
#include "gpu/cuda_runtime.hpp"
#include "support/testing.hpp"
#include "unit/attention/cuda/device/cuda_cases.hpp"

#include "bigbird/model/device/device.hpp"

#include <c10/core/StreamGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <array>
#include <cstdio>

using namespace bigbird;
using namespace bigbird::attention;
using bigbird::testing::AttentionInputs;
using bigbird::testing::AttentionResults;
using bigbird::testing::CudaCase;
using bigbird::testing::difference;
using bigbird::testing::runtime;

namespace {

constexpr std::array<CudaCase, 12> cases{
    {{.pattern = "bigbird", .blocks = 12, .padded = 70},
     {.pattern = "bigbird", .source = RandomSource::hf, .blocks = 13},
     {.pattern = "bigbird", .source = RandomSource::uniform, .blocks = 64, .heads = 3, .padded = 1000},
     {.pattern = "bigbird", .source = RandomSource::hf, .blocks = 64, .samples = 2, .padded = 64},
     {.pattern = "bigbird-first", .blocks = 33},
     {.pattern = "bigbird", .block_size = 16, .blocks = 40, .samples = 2, .padded = 20},
     {.pattern = "bigbird", .block_size = 32, .blocks = 31, .padded = 129},
     {.pattern = "bigbird-etc", .block_size = 84, .blocks = 12, .padded = 90},
     {.pattern = "random+window", .block_size = 128, .blocks = 16},
     {.pattern = "window", .block_size = 40, .blocks = 20, .padded = 7},
     {.pattern = "random", .blocks = 20, .heads = 1},
     // More units than a persistent grid takes at once.
     {.pattern = "bigbird", .blocks = 24, .heads = 4, .samples = 8, .padded = 100}}};

at::Device gpu() {
    static const at::Device device = model::open_device("cuda");
    return device;
}

AttentionInputs on_gpu(const AttentionInputs& inputs) {
    return {inputs.q.to(gpu()), inputs.k.to(gpu()), inputs.v.to(gpu()), inputs.d_out.to(gpu()),
            inputs.key_mask.to(gpu())};
}

/// The sets of kernels that this GPU can run.
std::vector<cuda::KernelSet> kernel_sets() {
    std::vector<cuda::KernelSet> sets{cuda::KernelSet::general};
    if (testing::is_hopper(gpu())) sets.push_back(cuda::KernelSet::hopper);
    return sets;
}

/// What a case is about: one kernel, so that a process can be had for each (scripts/gpu-check).
enum class Part { forward, of_queries, of_keys, all };

/// As the network does it: (samples, length, heads, head_dim) in memory. The gradients of a part alone rest
/// on the general kernels' forward pass, so that a kernel that hangs is the only one to do so.
AttentionResults run_kernels(const LayerLayout& layout, const AttentionInputs& inputs, at::ScalarType type,
                             cuda::KernelSet set, Part part = Part::all) {
    const auto leaf = [&](const at::Tensor& x, bool is_wanted) {
        return x.transpose(1, 2).contiguous().to(type, false, true).requires_grad_(is_wanted);
    };
    const bool of_queries = part == Part::of_queries || part == Part::all,
               of_keys = part == Part::of_keys || part == Part::all;
    const bool is_whole = part == Part::forward || part == Part::all;
    const at::Tensor q = leaf(inputs.q, of_queries), k = leaf(inputs.k, of_keys), v = leaf(inputs.v, of_keys);
    const at::Tensor out =
        cuda_attention(q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2), inputs.key_mask, layout,
                       is_whole ? set : cuda::KernelSet::general, set);
    if (part != Part::forward) out.backward(inputs.d_out.to(type));
    const auto result = [](const at::Tensor& x) {
        return x.defined() ? x.transpose(1, 2).to(at::kDouble) : x;
    };
    return {out.detach().to(at::kDouble), result(q.grad()), result(k.grad()), result(v.grad())};
}

/// The rule for low precision: at most `factor` times the error of the same maths by LibTorch in that type.
void check_error(const at::Tensor& found, const at::Tensor& exact, const at::Tensor& by_torch,
                 double factor) {
    const double unavoidable = 1e-4 * exact.abs().max().item<double>();
    DOCTEST_CHECK(difference(found, exact) <= factor * difference(by_torch, exact) + unavoidable);
}

void check_case(const CudaCase& c, at::ScalarType type, cuda::KernelSet set, Part part) {
    // At once, so that a log shows what a run that hangs was at.
    std::printf("  %s: %d blocks of %d, %d heads, %d samples, %s\n", c.pattern, c.blocks, c.block_size,
                c.heads, c.samples, type == at::kHalf ? "fp16" : "bf16");
    std::fflush(stdout);
    DOCTEST_CAPTURE(c.pattern);
    DOCTEST_CAPTURE(c.block_size);
    DOCTEST_CAPTURE(c.blocks);
    const LayerLayout layout = layout_of(c);
    const AttentionInputs inputs = on_gpu(inputs_of(c, type));
    const AttentionResults exact = run_reference(layout, inputs, at::kDouble),
                           by_torch = run_reference(layout, inputs, type),
                           found = run_kernels(layout, inputs, type, set, part);
    if (part == Part::forward) {
        check_error(found.out, exact.out, by_torch.out, 2);
    } else if (part == Part::of_queries) {
        check_error(found.dq, exact.dq, by_torch.dq, 3);
    } else {
        check_error(found.dk, exact.dk, by_torch.dk, 3);
        check_error(found.dv, exact.dv, by_torch.dv, 3);
    }
}

/// Whether this GPU can run the kernels.
bool has(cuda::KernelSet set) {
    if (set == cuda::KernelSet::hopper && !testing::is_hopper(gpu())) {
        std::puts("  not of compute capability 9.0: nothing to run");
        return false;
    }
    return true;
}

void check_cases(cuda::KernelSet set, Part part) {
    for (const at::ScalarType type : {at::kBFloat16, at::kHalf})
        for (std::size_t i = 0; has(set) && i < cases.size(); ++i)
            check_case(cases[i], type, set, part);
}

void check_small(cuda::KernelSet set, Part part) {
    if (!has(set)) return;
    const CudaCase c{.pattern = "bigbird", .blocks = 12, .heads = 1, .padded = 70, .longest = 4};
    const LayerLayout layout = layout_of(c);
    const AttentionInputs inputs = inputs_of(c, at::kBFloat16);
    const AttentionResults exact = run_reference(layout, inputs, at::kDouble);
    const AttentionResults found = run_kernels(layout, on_gpu(inputs), at::kBFloat16, set, part);
    if (part == Part::forward) {
        DOCTEST_CHECK(difference(found.out.cpu(), exact.out) < 0.02);
    } else if (part == Part::of_queries) {
        DOCTEST_CHECK(difference(found.dq.cpu(), exact.dq) < 0.08);
    } else {
        DOCTEST_CHECK(difference(found.dk.cpu(), exact.dk) < 0.08);
        DOCTEST_CHECK(difference(found.dv.cpu(), exact.dv) < 0.08);
    }
}

/// The small case first: it fails fast, and is what compute-sanitizer runs.
void check_kernel(cuda::KernelSet set, Part part) {
    check_small(set, part);
    check_cases(set, part);
}

}  // namespace

// A case a kernel: as near fp64 as LibTorch, and as its slow twin has it.

DOCTEST_TEST_CASE("gpu attention: general forward") {
    check_kernel(cuda::KernelSet::general, Part::forward);
}
DOCTEST_TEST_CASE("gpu attention: general dq") {
    check_kernel(cuda::KernelSet::general, Part::of_queries);
}
DOCTEST_TEST_CASE("gpu attention: general dk and dv") {
    check_kernel(cuda::KernelSet::general, Part::of_keys);
}
DOCTEST_TEST_CASE("gpu attention: hopper forward") {
    check_kernel(cuda::KernelSet::hopper, Part::forward);
}
DOCTEST_TEST_CASE("gpu attention: hopper dq") {
    check_kernel(cuda::KernelSet::hopper, Part::of_queries);
}
DOCTEST_TEST_CASE("gpu attention: hopper dk and dv") {
    check_kernel(cuda::KernelSet::hopper, Part::of_keys);
}
DOCTEST_TEST_CASE("gpu attention: the slow twins alone, small enough for compute-sanitizer") {
    for (const cuda::KernelSet set : kernel_sets())
        for (const Part part : {Part::forward, Part::of_queries, Part::of_keys})
            check_small(set, part);
}

DOCTEST_TEST_CASE("gpu attention: the same bytes every time") {
    const CudaCase& c = cases[3];
    const LayerLayout layout = layout_of(c);
    const AttentionInputs inputs = on_gpu(inputs_of(c, at::kBFloat16));
    for (const cuda::KernelSet set : kernel_sets()) {
        const AttentionResults first = run_kernels(layout, inputs, at::kBFloat16, set);
        for (int i = 0; i < 20; ++i)
            DOCTEST_CHECK(testing::identical(first, run_kernels(layout, inputs, at::kBFloat16, set)));
    }
}

DOCTEST_TEST_CASE("gpu attention: works on the caller's stream, and in a captured graph with other inputs") {
    const CudaCase& c = cases[2];
    const LayerLayout layout = layout_of(c);
    const AttentionInputs inputs = on_gpu(inputs_of(c, at::kBFloat16));
    const at::NoGradGuard no_gradient;
    const auto half = [](const at::Tensor& x) { return x.to(at::kBFloat16); };
    for (const cuda::KernelSet set : kernel_sets()) {
        DOCTEST_CAPTURE(static_cast<int>(set));
        at::Tensor q = half(inputs.q), k = half(inputs.k), v = half(inputs.v);
        const auto attend = [&] { return cuda_attention(q, k, v, inputs.key_mask, layout, set); };
        const at::Tensor before = attend();
        const c10::impl::VirtualGuardImpl device(at::kCUDA);
        device.synchronizeDevice(gpu().index());
        const c10::StreamGuard guard(device.getStreamFromGlobalPool(gpu()));
        const c10::Stream stream = device.getStream(gpu());
        DOCTEST_CHECK(testing::identical(attend(), before));
        device.synchronizeStream(stream);

        constexpr int relaxed = 2;  // cudaStreamCaptureModeRelaxed
        void *graph = nullptr, *executable = nullptr, *handle = stream.native_handle();
        DOCTEST_REQUIRE(runtime<int (*)(void*, int)>("cudaStreamBeginCapture")(handle, relaxed) == 0);
        const at::Tensor out = attend();
        DOCTEST_REQUIRE(runtime<int (*)(void*, void**)>("cudaStreamEndCapture")(handle, &graph) == 0);
        DOCTEST_REQUIRE(runtime<int (*)(void**, void*, unsigned long long)>("cudaGraphInstantiate")(
                            &executable, graph, 0) == 0);
        q.mul_(-0.5);
        const at::Tensor wanted = attend();
        DOCTEST_REQUIRE(runtime<int (*)(void*, void*)>("cudaGraphLaunch")(executable, handle) == 0);
        device.synchronizeStream(stream);
        DOCTEST_CHECK(testing::identical(out, wanted));
        DOCTEST_CHECK(!testing::identical(out, before));
    }
}

DOCTEST_TEST_CASE("gpu attention: automatic takes the best kernels for 16-bit numbers") {
    const CudaCase& c = cases[0];
    const LayerLayout on_cpu = layout_of(c);
    const LayerLayout layout = stack_layouts(*on_cpu.layouts, c.block_size, gpu());
    const AttentionInputs inputs = on_gpu(inputs_of(c, at::kBFloat16));
    const auto attend = [&](Backend backend, at::ScalarType type = at::kBFloat16) {
        return sparse_attention(inputs.q.to(type), inputs.k.to(type), inputs.v.to(type), inputs.key_mask,
                                layout, backend);
    };
    const Backend best = testing::is_hopper(gpu()) ? Backend::fused_hopper : Backend::fused;
    DOCTEST_CHECK(testing::identical(attend(Backend::automatic), attend(best)));
    DOCTEST_CHECK(difference(attend(best), attend(Backend::blocked)) < 0.05);
    DOCTEST_CHECK(
        testing::identical(attend(Backend::automatic, at::kFloat), attend(Backend::blocked, at::kFloat)));
}
