// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/mapped_file.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace bigbird::networks {

/// A zip archive whose members are stored, not compressed, as torch.save() writes it. Const calls are
/// thread-safe.
class ZipFile {
public:
    /// Reads the list of members. Throws InputError if it is damaged.
    explicit ZipFile(const std::filesystem::path& path);

    const std::filesystem::path& path() const { return file_.path(); }
    bool has(const std::string& name) const { return members_.contains(name); }
    /// The only member with this ending; "" if there is none. Throws InputError if there are several.
    std::string name_ending_with(std::string_view ending) const;
    bool has_ending(std::string_view ending) const;
    /// A member's bytes, within the mapped file. Throws InputError if there is no such member, or if it is
    /// compressed, encrypted or beyond the file's end.
    std::span<const std::byte> bytes(const std::string& name) const;

private:
    struct Member {
        std::uint64_t header = 0, size = 0;  ///< where its own header begins; bytes
        bool stored = true;
    };
    void read_directory(std::uint64_t begin, std::uint64_t size, std::uint64_t count);

    MappedFile file_;
    std::map<std::string, Member> members_;
};

}  // namespace bigbird::networks
