// SPDX-License-Identifier: Apache-2.0
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#define DOCTEST_CONFIG_IMPLEMENT
#include "bigbird/core/log.hpp"

#include <doctest/doctest.h>

int main(int argc, char** argv) {
    bigbird::set_up_log(bigbird::Verbosity::quiet);
    doctest::Context context(argc, argv);
    return context.run();
}
