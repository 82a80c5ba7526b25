// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace bigbird {

/// A complete file, read-only in memory. Pages are loaded on access. If the file is shortened while mapped,
/// access ends the process (SIGBUS). Const calls are thread-safe.
class MappedFile {
public:
    /// Throws InputError if the file is missing, cannot be read or is a pipe.
    explicit MappedFile(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(MappedFile&& other) noexcept;
    MappedFile& operator=(MappedFile&& other) noexcept;

    std::span<const std::byte> bytes() const { return bytes_; }
    const std::filesystem::path& path() const { return path_; }

private:
    std::filesystem::path path_;
    std::span<const std::byte> bytes_;
};

}  // namespace bigbird
