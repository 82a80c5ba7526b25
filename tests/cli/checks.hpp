// SPDX-License-Identifier: Apache-2.0
// What tests of commands check again and again.
#pragma once

#include "cli/run_program.hpp"
#include "support/metrics_lines.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include <filesystem>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

namespace bigbird::testing {

inline const std::string small_model = test_data("tokenizer/small.model");

/// A folder of files for commands; a path in it is a word of a command line.
class TestFolder {
public:
    std::string operator/(const std::string& name) const { return folder_ / name; }
    bool has(const std::string& name) const { return std::filesystem::exists(folder_ / name); }

protected:
    TempDir folder_;
};

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

/// Whether standard output, a file or what else is in `text` has each part.
inline void check_holds(const std::string& text, const std::vector<std::string>& parts) {
    DOCTEST_CAPTURE(text);
    for (const std::string& part : parts)
        DOCTEST_CHECK_MESSAGE(holds(text, part), part);
}

/// The weights of the model of a run.
inline std::string weights_of(const std::filesystem::path& run) {
    return read_file(run / "model/model.safetensors");
}

/// What a run's lines of metrics say of these, in their order.
inline std::vector<double> values_of(const std::filesystem::path& run,
                                     const std::vector<std::string>& names = {"loss"}) {
    std::vector<double> values;
    for (const Json& line : metrics_of(run))
        for (const std::string& name : names)
            if (line.contains(name)) values.push_back(line[name].get<double>());
    return values;
}

/// Sentences of real sequence, as documents of five of them.
inline std::string real_documents(int sentences = 20) {
    std::istringstream lines(read_file(test_data("tokenizer/sentences.txt")));
    std::string text, line;
    for (int number = 0; number < sentences && std::getline(lines, line); ++number)
        text += line + "\n" + (number % 5 == 4 ? "\n" : "");
    return text;
}

/// Ends the test unless the program ended with code 0.
inline ProgramResult succeeded(ProgramResult result) {
    DOCTEST_REQUIRE_MESSAGE(result.code == 0, result.err);
    return result;
}

/// Runs the command, which must succeed.
inline ProgramResult works(const std::vector<std::string>& words, const std::string& input = {},
                           const Disturbance& disturbance = {}) {
    return succeeded(run_program(words, input, disturbance));
}

/// Checks the exit code, and that standard error has `part`.
inline void check_said(const ProgramResult& result, int code, const std::string& part) {
    DOCTEST_CAPTURE(result.err);
    DOCTEST_CAPTURE(part);
    DOCTEST_CHECK(result.code == code);
    DOCTEST_CHECK(holds(result.err, part));
}

/// Checks the exit code, and that standard error is one error with this sentence.
inline void check_error(const ProgramResult& result, int code, const std::string& sentence) {
    DOCTEST_CHECK(result.code == code);
    DOCTEST_CHECK(result.err == "bigbird-dna: error: " + sentence + "\n");
}

}  // namespace bigbird::testing
