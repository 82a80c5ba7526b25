// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/text/byte_stream.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::genome::detail {

/// Random access to the uncompressed text of a file. Const calls are thread-safe.
class RandomBytes {
public:
    virtual ~RandomBytes() = default;

    /// Length of the text in bytes.
    virtual std::int64_t size() const = 0;
    /// Fills `out` with the `count` bytes from `offset`, all within the text. Throws InputError if the
    /// file cannot be read, or changed since it was opened.
    virtual void read(std::int64_t offset, std::int64_t count, char* out) const = 0;
    /// Number of bytes that are most efficient to read at once.
    virtual std::int64_t piece() const = 0;
    /// Passes the entire text to `consume` in order, in chunks, on the calling thread.
    virtual void scan(const std::function<void(std::string_view)>& consume) const = 0;
};

/// Opens a plain or bgzip file. Blocks of bgzip are found through the file's .gzi where that is fresh, else
/// by their headers; nothing is written.
std::unique_ptr<RandomBytes> open_random(const std::filesystem::path& path, Compression compression);

/// Whether an index beside a file may be used: it is a regular file, and not older than the other. Logs a
/// warning for an older index.
bool is_fresh_index(const std::filesystem::path& index, const std::filesystem::path& file);

}  // namespace bigbird::genome::detail
