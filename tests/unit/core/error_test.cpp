// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/error.hpp"

#include "support/testing.hpp"

#include "bigbird/core/check.hpp"

#include <string>

using namespace bigbird;

DOCTEST_TEST_CASE("error: an input's fault begins with its file and line") {
    DOCTEST_CHECK(InputError("is bad", "a.bed", 12).what() == std::string("a.bed:12: is bad"));
    DOCTEST_CHECK(InputError("is bad", "a.bed", 1).what() == std::string("a.bed:1: is bad"));
    DOCTEST_CHECK(InputError("is bad", "a.bed").what() == std::string("a.bed: is bad"));
    DOCTEST_CHECK(InputError("do not fit").what() == std::string("do not fit"));
}

DOCTEST_TEST_CASE("error: each kind ends the program with its own code, as the manual lists them") {
    const auto code_of = [](const Error& error) { return static_cast<int>(error.code()); };
    DOCTEST_CHECK(code_of(ConfigError("")) == 2);
    DOCTEST_CHECK(code_of(InputError("")) == 3);
    DOCTEST_CHECK(code_of(InputError("", "file")) == 3);
    DOCTEST_CHECK(code_of(DeviceError("")) == 4);
    DOCTEST_CHECK(code_of(WriteError("")) == 74);
    DOCTEST_CHECK(code_of(Stopped("", ExitCode::stopped_early)) == 75);
    DOCTEST_CHECK(code_of(Stopped("", ExitCode::interrupted)) == 130);
    DOCTEST_CHECK(static_cast<int>(ExitCode::terminated) == 143);
    DOCTEST_CHECK(static_cast<int>(ExitCode::bug) == 70);
}

DOCTEST_TEST_CASE("check: a programmer's mistake names its place and is no Error") {
    const auto expect = [](bool condition) { BIGBIRD_EXPECTS(condition, "must hold"); };
    DOCTEST_CHECK_NOTHROW(expect(true));
    const std::string what = testing::message_of<std::logic_error>([&] { expect(false); });
    DOCTEST_CHECK(what.find("error_test.cpp:") != std::string::npos);
    DOCTEST_CHECK(what.ends_with(": must hold"));
}
