// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/system/child_process.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>

using namespace bigbird;
using namespace std::chrono_literals;

DOCTEST_TEST_CASE("child_process: what it says and the code with which it ends come back") {
    const ChildResult result = run_child(
        [] {
            std::fputs("out", stdout);
            std::fputs("err", stderr);
            return 3;
        },
        20s);
    DOCTEST_CHECK(result.code == 3);
    DOCTEST_CHECK(result.out == "out");
    DOCTEST_CHECK(result.failure() == "err");
    DOCTEST_CHECK_FALSE(result.succeeded());
    const std::string much(300'000, 'x');  // more than a pipe holds
    DOCTEST_CHECK(run_child([&] { return std::fputs(much.c_str(), stdout) < 0 ? 1 : 0; }, 20s).out == much);
}

DOCTEST_TEST_CASE("child_process: an exception, a signal and a time limit are told apart") {
    const ChildResult thrown = run_child([]() -> int { throw InputError("bad"); }, 20s);
    DOCTEST_CHECK(thrown.code == 70);
    DOCTEST_CHECK(thrown.failure() == "bad");
    const ChildResult killed = run_child([]() -> int { return ::raise(SIGKILL); }, 20s);
    DOCTEST_CHECK(killed.code == 128 + SIGKILL);
    DOCTEST_CHECK(killed.failure() == "ended by signal 9 (Killed)");
    const auto start = std::chrono::steady_clock::now();
    const ChildResult hanging = run_child(
        [] {
            std::fputs("so far", stdout);
            std::fflush(stdout);
            ::pause();
            return 0;
        },
        200ms);
    DOCTEST_CHECK(hanging.timed_out);
    DOCTEST_CHECK(hanging.out == "so far");
    DOCTEST_CHECK(hanging.failure() == "no answer within the time limit");
    DOCTEST_CHECK(std::chrono::steady_clock::now() - start < 10s);
}

DOCTEST_TEST_CASE("child_process: programs are started with their arguments, or why not is said") {
    DOCTEST_CHECK(run_child("/bin/echo", {"echo", "a b", "c"}, 20s).out == "a b c\n");
    const ChildResult none = run_child("/nonexistent/program", {"program"}, 20s);
    DOCTEST_CHECK(none.code == 127);
    DOCTEST_CHECK(none.failure() == "/nonexistent/program cannot be started: No such file or directory");
}

DOCTEST_TEST_CASE("child_process: a signal that came in ends the wait") {
    set_stop_signal(SIGINT);
    DOCTEST_CHECK_THROWS_AS(run_child([] { return ::pause(); }, 20s), Stopped);
    set_stop_signal(0);
}
