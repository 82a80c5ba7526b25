// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string_view>

struct BGZF;

namespace bigbird::genome::detail {

/// Some programs begin UTF-8 text with it.
inline constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";

/// The unsigned number that bytes hold, the lowest byte first.
constexpr std::uint64_t little_endian(std::string_view bytes) {
    std::uint64_t value = 0;
    for (std::size_t i = bytes.size(); i-- > 0;)
        value = value << 8U | static_cast<unsigned char>(bytes[i]);
    return value;
}

/// Keeps htslib from printing; its errors are reported as exceptions instead.
void silence_htslib();

struct CloseBgzf {
    void operator()(BGZF* file) const noexcept;
};
using BgzfHandle = std::unique_ptr<BGZF, CloseBgzf>;

enum class Compression : std::uint8_t { none, gzip, bgzip };

/// Determines the compression from the first bytes. `path` is a regular file. Throws InputError: cannot be
/// read, compressed in another way (which it names).
Compression compression_of(const std::filesystem::path& path);

// Whether a stream of htslib is complete. Its readers of records take an error for the end.

/// Throws InputError: damaged behind `line`, the last that could be read (0: not known).
[[noreturn]] void refuse_damaged(const std::filesystem::path& path, std::int64_t line = 0);
/// Throws InputError: a bgzip file whose last block is not the empty one. Whether it was cut between two
/// blocks cannot be seen.
[[noreturn]] void refuse_unclosed(const std::filesystem::path& path, std::int64_t line = 0);
/// Throws InputError if a block could not be read, or if a bgzip file has `ended` and is not closed.
void require_sound(BGZF& file, bool ended, const std::filesystem::path& path, std::int64_t line);

/// The bytes of a plain, gzip (of any number of members) or bgzip file, pipe or standard input ("-"), from
/// first to last. Not thread-safe.
class ByteStream {
public:
    /// Throws InputError: missing, a folder, cannot be read.
    explicit ByteStream(std::filesystem::path path);

    /// Up to `size` bytes, as many as are available; 0 only at the end. Throws InputError if the file is
    /// truncated or corrupt, naming `line`, the last that the caller could read.
    std::size_t read(char* out, std::size_t size, std::int64_t line);
    const std::filesystem::path& path() const { return path_; }
    /// Number of bytes of the (possibly compressed) file read so far, for progress. Thread-safe.
    std::int64_t bytes_read() const { return bytes_read_; }

private:
    std::filesystem::path path_;
    BgzfHandle file_;
    std::atomic<std::int64_t> bytes_read_{0};
};

}  // namespace bigbird::genome::detail
