// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/attention.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird::attention;

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
