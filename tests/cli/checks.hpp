// SPDX-License-Identifier: Apache-2.0
// What tests of commands check again and again.
#pragma once

#include "cli/run_program.hpp"
#include "support/testing.hpp"

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace bigbird::testing {

/// The words of a command line without quotes.
inline std::vector<std::string> words_of(const std::string& line) {
    std::istringstream words(line);
    return {std::istream_iterator<std::string>(words), std::istream_iterator<std::string>()};
}

/// `words` and `more` behind them.
inline std::vector<std::string> joined(std::vector<std::string> words, const std::vector<std::string>& more) {
    words.insert(words.end(), more.begin(), more.end());
    return words;
}

/// Ends the test unless the program ended with code 0.
inline ProgramResult succeeded(ProgramResult result) {
    DOCTEST_REQUIRE_MESSAGE(result.code == 0, result.err);
    return result;
}

/// Checks the exit code, and that standard error has `part`.
inline void check_said(const ProgramResult& result, int code, const std::string& part) {
    DOCTEST_CAPTURE(result.err);
    DOCTEST_CAPTURE(part);
    DOCTEST_CHECK(result.code == code);
    DOCTEST_CHECK(contains(result.err, part));
}

/// Checks the exit code, and that standard error is one error with this sentence.
inline void check_error(const ProgramResult& result, int code, const std::string& sentence) {
    DOCTEST_CHECK(result.code == code);
    DOCTEST_CHECK(result.err == "bigbird-dna: error: " + sentence + "\n");
}

}  // namespace bigbird::testing
