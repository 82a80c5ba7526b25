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
