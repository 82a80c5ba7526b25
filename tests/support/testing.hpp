// SPDX-License-Identifier: Apache-2.0
// The only file that includes doctest. Long macro names alone (DOCTEST_CHECK …), because LibTorch defines
// CHECK to abort.
#pragma once

#ifndef DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#define DOCTEST_CONFIG_NO_SHORT_MACRO_NAMES
#endif
#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <string_view>

namespace bigbird::testing {

/// A file or folder of test_data.
std::filesystem::path test_data(const std::string& relative);

/// Whether `part` is in `text`.
inline bool holds(std::string_view text, std::string_view part) {
    return text.find(part) != std::string_view::npos;
}

/// The message of the exception of type E that `body` throws; fails the test where none, or another, comes.
template <typename E, typename Body>
std::string message_of(Body&& body) {
    try {
        body();
    } catch (const E& error) {
        return error.what();
    }
    DOCTEST_FAIL("no exception was thrown");
    return {};
}

}  // namespace bigbird::testing
