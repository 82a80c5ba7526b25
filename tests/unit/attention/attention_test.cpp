// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/attention.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/attention/cuda/device/stacked_layout.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/core/error.hpp"

#include <c10/core/InferenceMode.h>

#include <thread>

using namespace bigbird::attention;
using bigbird::testing::identical;
using bigbird::testing::random_tensor;

namespace {

/// One attention by a backend; the tensors belong to the mode in which this is called.
at::Tensor attended(Backend backend, const PatternSpec& spec, at::ScalarType type) {
    const std::int64_t length = std::int64_t{12} * spec.block_size;
    const LayerLayout layout = bigbird::testing::stacked_layout(spec, 12, 3);
    const auto tensor = [&](std::uint64_t seed) { return random_tensor({2, 3, length, 16}, seed).to(type); };
    at::Tensor mask = at::ones({2, length}, at::kBool);
    mask[1].narrow(0, length - 5, 5).fill_(false);
    return sparse_attention(tensor(1), tensor(2), tensor(3), mask, layout, backend);
}

/// What `compute` returns on a thread of its own.
template <typename Compute>
at::Tensor elsewhere(const Compute& compute) {
    at::Tensor result;
    std::thread([&] { result = compute(); }).join();
    return result;
}

}  // namespace

DOCTEST_TEST_CASE("attention: backends are chosen by name") {
    DOCTEST_CHECK(backend_from_name("automatic") == Backend::automatic);
    DOCTEST_CHECK(backend_from_name("reference") == Backend::reference);
    DOCTEST_CHECK(backend_from_name("blocked") == Backend::blocked);
    DOCTEST_CHECK(backend_from_name("fused") == Backend::fused);
    DOCTEST_CHECK(backend_from_name("fused-hopper") == Backend::fused_hopper);
    const std::string message =
        bigbird::testing::message_of<bigbird::ConfigError>([] { backend_from_name("fast"); });
    DOCTEST_CHECK(message ==
                  "no attention backend is named 'fast': choose automatic, reference, blocked, fused or "
                  "fused-hopper");
}

DOCTEST_TEST_CASE("attention: Hopper's kernels are refused without a GPU") {
    const LayerLayout layout = stack_layouts({make_layout(PatternSpec{}, 12, 0, 0)}, 64, at::kCPU);
    const at::Tensor x = at::zeros({1, 1, 768, 8}), mask = at::ones({1, 768}, at::kBool);
    const std::string message = bigbird::testing::message_of<bigbird::ConfigError>(
        [&] { sparse_attention(x, x, x, mask, layout, Backend::fused_hopper); });
    DOCTEST_CHECK(message.find("fused-hopper is for GPUs") != std::string::npos);
}

DOCTEST_TEST_CASE("attention: shapes that do not fit the layout are a programmer's mistake") {
    const LayerLayout layout = stack_layouts({make_layout(PatternSpec{}, 12, 0, 0)}, 64, at::kCPU);
    const at::Tensor x = at::zeros({1, 1, 64, 8}), mask = at::ones({1, 64}, at::kBool);
    DOCTEST_CHECK_THROWS_AS(sparse_attention(x, x, x, mask, layout), std::logic_error);
}

DOCTEST_TEST_CASE("attention: every backend computes in inference mode and on a thread of the caller's own") {
    PatternSpec small, full, masked;
    small.block_size = full.block_size = masked.block_size = 16;
    full.full = true;
    masked.kind = PatternKind::longformer;
    masked.window_tokens = 20;
    for (const at::ScalarType type : {at::kFloat, at::kBFloat16}) {
        for (const Backend backend :
             {Backend::automatic, Backend::reference, Backend::blocked, Backend::fused}) {
            if (backend == Backend::fused && !can_fuse(at::empty({1}, type))) continue;
            for (const PatternSpec& spec : {small, full, masked}) {
                const auto compute = [&] { return attended(backend, spec, type); };
                const auto infer = [&] {
                    const c10::InferenceMode inference;
                    return compute().clone();
                };
                const at::Tensor wanted = compute();
                DOCTEST_CHECK(identical(infer(), wanted));
                DOCTEST_CHECK(identical(elsewhere(compute), wanted));
                DOCTEST_CHECK(identical(elsewhere(infer), wanted));
            }
        }
    }
}
