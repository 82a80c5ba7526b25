// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace bigbird::genome {

/// Reads lines of plain, gzip or bgzip text (told by content) or of standard input ("-"). Strips "\n" and
/// "\r\n"; the last newline may be missing. Throws InputError: missing, truncated or corrupt file. Not
/// thread-safe.
class TextInput {
public:
    explicit TextInput(std::filesystem::path path);
    ~TextInput();
    TextInput(TextInput&&) noexcept;

    /// False at the end.
    bool next(std::string& line);
    /// Number of the line last read, from 1.
    std::int64_t line_number() const;
    const std::filesystem::path& path() const;
    /// Bytes of the file (compressed as it is) taken so far, and in all (0: not known), for progress. Any
    /// thread may ask.
    std::int64_t bytes_read() const;
    std::int64_t total_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::genome
