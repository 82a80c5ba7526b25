// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/device/memory.hpp"

#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::training;

DOCTEST_TEST_CASE("memory: LibTorch's own failure to allocate is known, and becomes the sentence given") {
    const auto too_much = [] { return at::empty({std::int64_t{1} << 52}, at::kByte).numel(); };
    DOCTEST_CHECK(testing::message_of<DeviceError>([&] { with_memory_advice("less", too_much); }) == "less");
    DOCTEST_CHECK(testing::message_of<InputError>([] {
                      with_memory_advice(
                          "less", []() -> int { throw InputError("bad"); });
                  }) == "bad");
    DOCTEST_CHECK(with_memory_advice("less", [] { return 7; }) == 7);
}
