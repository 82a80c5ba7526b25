// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

namespace bigbird::genome {

/// Reads lines of plain, gzip or bgzip text (detected by content) or of standard input ("-"). Strips "\n" and
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
    /// Number of bytes of the (possibly compressed) file: read so far, and in total (0: not known), for
    /// progress. Thread-safe.
    std::int64_t bytes_read() const;
    std::int64_t total_bytes() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::genome
