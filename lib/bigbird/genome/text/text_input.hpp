// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/genome/text/byte_stream.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::genome {

/// Whether a text is UTF-8. Readers refuse names of contigs, rows and labels that are not UTF-8, since JSON
/// and HDF5 files can hold only UTF-8.
bool is_utf8(std::string_view text);

/// The end of an error message about text that is not UTF-8.
inline constexpr const char* not_utf8 = "not UTF-8: convert the file, as 'iconv -f latin1 -t utf-8' does";

/// Reads lines of plain, gzip or bgzip text (detected by content) or of standard input ("-"). Strips "\n" and
/// "\r\n"; the last newline may be missing. Throws InputError: missing, truncated or corrupt file. Not
/// thread-safe.
class TextInput {
public:
    explicit TextInput(std::filesystem::path path) : stream_(std::move(path)) {}

    /// False at the end.
    bool next(std::string& line);
    /// Number of the line last read, from 1.
    std::int64_t line_number() const { return line_number_; }
    const std::filesystem::path& path() const { return stream_.path(); }
    /// What is wrong with the line last read.
    InputError fault(const std::string& what) const { return {what, path(), line_number_}; }
    /// Number of bytes of the (possibly compressed) file: read so far, and in total (0: not known), for
    /// progress. Thread-safe.
    std::int64_t bytes_read() const { return stream_.bytes_read(); }
    std::int64_t total_bytes() const;

private:
    bool refill();

    detail::ByteStream stream_;
    std::vector<char> buffer_ = std::vector<char>(std::size_t{1} << 18);
    std::size_t begin_ = 0, end_ = 0;  ///< what of the buffer is not read yet
    std::int64_t line_number_ = 0;
};

}  // namespace bigbird::genome
