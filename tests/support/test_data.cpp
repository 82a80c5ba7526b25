// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"

namespace bigbird::testing {

std::filesystem::path test_data(const std::string& relative) {
    return std::filesystem::path(BIGBIRD_TEST_DATA) / relative;
}

}  // namespace bigbird::testing
