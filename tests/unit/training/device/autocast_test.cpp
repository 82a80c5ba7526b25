// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/device/autocast.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/system/processor.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::training;

DOCTEST_TEST_CASE("autocast: matrix products are bfloat16 while it lives, and only if asked for") {
    const at::Tensor a = at::ones({4, 4});
    DOCTEST_CHECK((at::matmul(a, a).scalar_type() == at::kFloat));
    {
        const Autocast off(ComputeType::fp32, at::kCPU);
        DOCTEST_CHECK((at::matmul(a, a).scalar_type() == at::kFloat));
        const Autocast on(ComputeType::bf16, at::kCPU);
        DOCTEST_CHECK(
            (at::matmul(a, a).scalar_type() == (has_bf16_instructions() ? at::kBFloat16 : at::kFloat)));
    }
    DOCTEST_CHECK((at::matmul(a, a).scalar_type() == at::kFloat));
}

DOCTEST_TEST_CASE("autocast: the word of --dtype") {
    DOCTEST_CHECK((parse_compute_type("auto", at::kCPU) == ComputeType::fp32));
    DOCTEST_CHECK((parse_compute_type("auto", at::kCUDA) == ComputeType::bf16));
    DOCTEST_CHECK((parse_compute_type("bf16", at::kCUDA) == ComputeType::bf16));
    DOCTEST_CHECK((parse_compute_type("bf16", at::kCPU) ==
                   (has_bf16_instructions() ? ComputeType::bf16 : ComputeType::fp32)));
    DOCTEST_CHECK(testing::message_of<ConfigError>([] { parse_compute_type("fp16", at::kCPU); }) ==
                  "--dtype is 'fp16'; it can be auto, fp32 or bf16");
}

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

DOCTEST_TEST_CASE("memory: LibTorch's own failure to allocate is known, and becomes the sentence given") {
    const auto too_much = [] { return at::empty({std::int64_t{1} << 52}, at::kByte).numel(); };
    DOCTEST_CHECK(testing::message_of<DeviceError>([&] { with_memory_advice("less", too_much); }) == "less");
    DOCTEST_CHECK(testing::message_of<InputError>([] {
                      with_memory_advice(
                          "less", []() -> int { throw InputError("bad"); });
                  }) == "bad");
    DOCTEST_CHECK(with_memory_advice("less", [] { return 7; }) == 7);
}
