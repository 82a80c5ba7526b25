// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/interrupt.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <csignal>

using namespace bigbird;

DOCTEST_TEST_CASE("interrupt: a signal becomes the exit code that shells expect") {
    install_signal_handlers();
    DOCTEST_CHECK_NOTHROW(stop_if_asked());
    std::raise(SIGTERM);
    DOCTEST_CHECK(stop_signal() == SIGTERM);
    try {
        stop_if_asked();
        DOCTEST_FAIL("no exception was thrown");
    } catch (const Stopped& stopped) {
        DOCTEST_CHECK(stopped.code() == ExitCode::terminated);
    }
    set_stop_signal(0);
    DOCTEST_CHECK_NOTHROW(stop_if_asked());
}
