// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/tar_members.hpp"

#include <zlib.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

namespace bigbird::networks {

namespace {

constexpr std::size_t tar_block = 512, most_members = 10'000, longest_member_name = 4096;
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 30;

struct CloseGz {
    void operator()(gzFile_s* file) const noexcept { gzclose(file); }
};

/// Blocks of an archive, in order.
class TarBlocks {
public:
    explicit TarBlocks(const std::filesystem::path& path) : file_(gzopen(path.c_str(), "rb")) {}

    bool next(std::array<char, tar_block>& out) {
        return file_ && gzread(file_.get(), out.data(), static_cast<unsigned>(tar_block)) ==
                            static_cast<int>(tar_block);
    }
    /// Text of `size` bytes, in whole blocks.
    std::string text(std::uint64_t size) {
        std::string text;
        std::array<char, tar_block> one{};
        while (text.size() < std::min<std::uint64_t>(size, longest_member_name) && next(one))
            text.append(one.data(), one.size());
        text.resize(std::min<std::uint64_t>(size, text.size()));
        return text.substr(0, text.find('\0'));
    }
    /// false if that is too far, or behind the end.
    bool skip(std::uint64_t size) {
        skipped_ += size;
        return skipped_ <= most_bytes && gzseek(file_.get(), static_cast<z_off_t>(size), SEEK_CUR) >= 0;
    }

private:
    std::unique_ptr<gzFile_s, CloseGz> file_;
    std::uint64_t skipped_ = 0;
};

std::string field(const std::array<char, tar_block>& header, std::size_t at, std::size_t size) {
    const std::string text(header.data() + at, size);
    return text.substr(0, text.find('\0'));
}

/// Octal digits; nullopt for anything else, as for members of over 8 GB.
std::optional<std::uint64_t> size_of_member(const std::array<char, tar_block>& header) {
    constexpr std::size_t at = 124, digits = 12;
    std::uint64_t size = 0;
    for (const char letter : field(header, at, digits)) {
        if (letter == ' ') continue;
        if (letter < '0' || letter > '7') return std::nullopt;
        size = size * 8 + static_cast<std::uint64_t>(letter - '0');
    }
    return size;
}

std::string name_of_member(const std::array<char, tar_block>& header) {
    constexpr std::size_t name_size = 100, prefix_at = 345, prefix_size = 155;
    const std::string prefix = field(header, prefix_at, prefix_size);
    return (prefix.empty() ? "" : prefix + "/") + field(header, 0, name_size);
}

bool is_header(const std::array<char, tar_block>& header) {
    constexpr std::size_t magic_at = 257;
    return std::string_view(header.data() + magic_at, 5) == "ustar";
}

constexpr std::size_t type_at = 156;
constexpr char long_name = 'L', file_type = '0', old_file_type = '\0';

}  // namespace

TarMembers list_tar_members(const std::filesystem::path& path) {
    TarBlocks blocks(path);
    TarMembers members;
    std::string longer;
    std::array<char, tar_block> header{};
    while (blocks.next(header) && is_header(header)) {
        const std::optional<std::uint64_t> size = size_of_member(header);
        const char type = header[type_at];
        if (!size || members.names.size() >= most_members) {
            members.all = false;
            break;
        }
        std::uint64_t left = (*size + tar_block - 1) / tar_block * tar_block;
        if (type == long_name) {
            longer = blocks.text(*size);
            left -=
                std::min<std::uint64_t>(left, (longest_member_name + tar_block - 1) / tar_block * tar_block);
        } else {
            if (type == file_type || type == old_file_type)
                members.names.push_back(longer.empty() ? name_of_member(header) : longer);
            longer.clear();
        }
        if (!blocks.skip(left)) {
            members.all = false;
            break;
        }
    }
    return members;
}

}  // namespace bigbird::networks
