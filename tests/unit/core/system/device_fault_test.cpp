// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/device_fault.hpp"

#include "support/testing.hpp"

#include <stdexcept>

using namespace bigbird;

DOCTEST_TEST_CASE("device_fault: LibTorch's words about a GPU become one sentence, others are left") {
    const auto fault = device_fault(std::runtime_error(
        "CUDA error: an illegal memory access was encountered.\nCUDA kernel errors might be "
        "asynchronously reported\nfor debugging consider"));
    DOCTEST_CHECK(
        fault.value_or("").starts_with("the GPU failed: CUDA error: an illegal memory access was "
                                       "encountered; 'bigbird-dna info --program'"));
    DOCTEST_CHECK(fault.value_or("\n").find('\n') == std::string::npos);
    DOCTEST_CHECK(device_fault(std::runtime_error("cuDNN error: CUDNN_STATUS_EXECUTION_FAILED")).has_value());
    DOCTEST_CHECK_FALSE(device_fault(std::runtime_error("shapes differ")).has_value());
}
