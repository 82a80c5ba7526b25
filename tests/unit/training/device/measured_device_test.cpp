// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/device/measured_device.hpp"

#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird::training;

DOCTEST_TEST_CASE("measured_device: memory grows with what is allocated") {
    const std::int64_t before = peak_memory(at::kCPU);
    const at::Tensor large = at::ones({300'000'000}, at::kByte);
    DOCTEST_CHECK(peak_memory(at::kCPU) >= std::max<std::int64_t>(before, 300'000'000));
    DOCTEST_CHECK(large.numel() == 300'000'000);
}

DOCTEST_TEST_CASE(
    "measured_device: the measured product draws nothing from the numbers that others draw from") {
    at::manual_seed(1);
    const at::Tensor wanted = at::randn({8});
    at::manual_seed(1);
    matrix_product_rate(ComputeType::bf16, at::kCPU);
    DOCTEST_CHECK(at::equal(at::randn({8}), wanted));
}

DOCTEST_TEST_CASE("measured_device: a matrix product takes time") {
    const double rate = matrix_product_rate(ComputeType::fp32, at::kCPU);
    DOCTEST_CHECK(rate > 1e8);
    DOCTEST_CHECK(rate < 1e15);
}
