// SPDX-License-Identifier: Apache-2.0
// A real one is tests/gpu's; pretended ones are tests/cli/device_test.cpp's.
#include "bigbird/model/gpu/cuda_driver.hpp"

#include "support/testing.hpp"

using namespace bigbird::model;

DOCTEST_TEST_CASE("cuda_driver: says the same twice, and why it cannot be asked where there is none") {
    const DriverFacts first = ask_cuda_driver(), second = ask_cuda_driver();
    DOCTEST_CHECK(first.version == second.version);
    DOCTEST_CHECK(first.gpus.size() == second.gpus.size());
    DOCTEST_CHECK(first.load_error.empty() == (first.version > 0));
    DOCTEST_CHECK((!first.is_missing || first.load_error.starts_with("libcuda.so.1")));
}
