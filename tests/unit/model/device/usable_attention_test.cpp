// SPDX-License-Identifier: Apache-2.0
// The choice on a GPU is gpu_facts_test.cpp's.
#include "bigbird/model/device/usable_attention.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::model;

DOCTEST_TEST_CASE("usable_attention: on a CPU it is what was asked for") {
    DOCTEST_CHECK(usable_attention("fused", at::kCPU) == attention::Backend::fused);
    DOCTEST_CHECK(usable_attention("automatic", at::kCPU) == attention::Backend::automatic);
    DOCTEST_CHECK_THROWS_AS(usable_attention("other", at::kCPU), ConfigError);
}
