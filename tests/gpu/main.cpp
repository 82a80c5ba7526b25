// SPDX-License-Identifier: Apache-2.0
// The program of the tests that need a GPU: without one it says so and exits with 77, which ctest shows as
// skipped.
#define DOCTEST_CONFIG_IMPLEMENT
#include "support/testing.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/model/device.hpp"

#include <algorithm>
#include <cstdio>
#include <string_view>

int main(int argc, char** argv) {
    bigbird::set_up_log(bigbird::Verbosity::quiet);
    doctest::Context context(argc, argv);
    const bool lists = std::any_of(argv + 1, argv + argc, [](const char* argument) {
        return std::string_view(argument).find("list-test-cases") != std::string_view::npos;
    });
    if (!lists && !bigbird::model::has_gpu()) {
        std::puts("skipped: this machine has no GPU that LibTorch can use");
        return 77;
    }
    return context.run();
}
