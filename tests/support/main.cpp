// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#define DOCTEST_CONFIG_IMPLEMENT
#include "bigbird/core/log.hpp"
#include "bigbird/core/system/processor.hpp"

#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>

int main(int argc, char** argv) {
    bigbird::set_up_log(bigbird::Verbosity::quiet);
    bigbird::limit_libraries();
    const char* const wanted = std::getenv(bigbird::processor_variable);
    if (wanted != nullptr && bigbird::name_of(bigbird::instruction_set()) != wanted) {
        std::printf("this processor has no %s\n", wanted);
        return 77;  // skipped
    }
    doctest::Context context(argc, argv);
    return context.run();
}
