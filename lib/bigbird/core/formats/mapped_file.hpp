// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace bigbird {

/// A complete file, read-only in memory. Pages are loaded on access. If the file is shortened while mapped,
/// access ends the process (SIGBUS). Const calls are thread-safe.
class MappedFile {
public:
    /// Throws InputError if the file is missing, cannot be read or is a pipe.
    explicit MappedFile(const std::filesystem::path& path);

    std::span<const std::byte> bytes() const {
        return {memory_.get(), memory_ ? memory_.get_deleter().size : 0};
    }
    const std::filesystem::path& path() const { return path_; }

private:
    struct Unmap {
        std::size_t size;
        void operator()(std::byte* memory) const noexcept;
    };
    std::filesystem::path path_;
    std::unique_ptr<std::byte, Unmap> memory_;
};

/// Passes the bytes of a file, or of a shell's pipe up to its end, to `consume`, a megabyte at a time. Throws
/// InputError if it is missing or a named pipe, ReadError where it cannot be opened or fails before its end.
void read_in_pieces(const std::filesystem::path& path, const std::function<void(std::string_view)>& consume);
/// The same bytes at once; throws InputError also for a device.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace bigbird
