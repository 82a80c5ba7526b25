// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/files/zip_file.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/networks/files/little_endian.hpp"
#include "bigbird/networks/files/printable.hpp"

#include <algorithm>

namespace bigbird::networks {

namespace {

using Bytes = std::span<const std::byte>;

// Signatures and sizes of the records of a zip archive, and places of their fields.
constexpr std::uint32_t end_mark = 0x06054b50, end64_mark = 0x06064b50, locator64_mark = 0x07064b50,
                        entry_mark = 0x02014b50, header_mark = 0x04034b50;
constexpr std::uint64_t end_size = 22, end64_size = 56, locator64_size = 20, entry_size = 46,
                        header_size = 30, longest_comment = 0xFFFF;
constexpr std::uint64_t most_zip_members = 1'000'000;
constexpr std::uint32_t is_elsewhere = 0xFFFFFFFF;  // the field is in the extra field of long archives
constexpr std::uint16_t extra64 = 1, encrypted = 1;

InputError damaged_zip(const std::filesystem::path& path) {
    return {"is damaged: its list of members (zip) is cut off or contradicts itself", path};
}

struct Directory {
    std::uint64_t begin = 0, size = 0, count = 0;
};

/// Where the record that ends an archive begins.
std::uint64_t find_end(Bytes file, const std::filesystem::path& path) {
    if (file.size() < end_size) throw damaged_zip(path);
    const std::uint64_t last = file.size() - end_size, first = last - std::min(last, longest_comment);
    for (std::uint64_t at = last + 1; at-- > first;)
        if (little_endian<std::uint32_t>(file, at) == end_mark) return at;
    throw damaged_zip(path);
}

Directory find_directory(Bytes file, const std::filesystem::path& path) {
    const std::uint64_t end = find_end(file, path);
    Directory found{little_endian<std::uint32_t>(file, end + 16),
                    little_endian<std::uint32_t>(file, end + 12),
                    little_endian<std::uint16_t>(file, end + 10)};
    if (end < locator64_size || little_endian<std::uint32_t>(file, end - locator64_size) != locator64_mark)
        return found;
    const auto at = little_endian<std::uint64_t>(file, end - locator64_size + 8);
    if (at > end || end - at < end64_size || little_endian<std::uint32_t>(file, at) != end64_mark)
        throw damaged_zip(path);
    return {little_endian<std::uint64_t>(file, at + 48), little_endian<std::uint64_t>(file, at + 40),
            little_endian<std::uint64_t>(file, at + 32)};
}

/// Replaces fields that do not fit into 32 bits, in the order in which the extra field has them.
void take_long_fields(Bytes extra, std::initializer_list<std::uint64_t*> fields) {
    while (extra.size() >= 4) {
        const auto kind = little_endian<std::uint16_t>(extra, 0),
                   size = little_endian<std::uint16_t>(extra, 2);
        Bytes content = extra.subspan(4, std::min<std::size_t>(size, extra.size() - 4));
        if (kind == extra64) {
            for (std::uint64_t* field : fields) {
                if (*field != is_elsewhere || content.size() < sizeof *field) continue;
                *field = little_endian<std::uint64_t>(content, 0);
                content = content.subspan(sizeof *field);
            }
            return;
        }
        extra = extra.subspan(4 + content.size());
    }
}

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& path) : file_(path) {
    const Directory found = find_directory(file_.bytes(), path);
    read_directory(found.begin, found.size, found.count);
}

void ZipFile::read_directory(std::uint64_t begin, std::uint64_t size, std::uint64_t count) {
    const Bytes file = file_.bytes();
    if (begin > file.size() || size > file.size() - begin || count > most_zip_members)
        throw damaged_zip(path());
    Bytes rest = file.subspan(begin, size);
    for (std::uint64_t i = 0; i < count; ++i) {
        if (rest.size() < entry_size || little_endian<std::uint32_t>(rest, 0) != entry_mark)
            throw damaged_zip(path());
        const std::uint64_t name_size = little_endian<std::uint16_t>(rest, 28),
                            extra_size = little_endian<std::uint16_t>(rest, 30),
                            comment_size = little_endian<std::uint16_t>(rest, 32),
                            whole = entry_size + name_size + extra_size + comment_size;
        if (rest.size() < whole) throw damaged_zip(path());
        std::uint64_t packed = little_endian<std::uint32_t>(rest, 20);
        Member member{little_endian<std::uint32_t>(rest, 42), little_endian<std::uint32_t>(rest, 24)};
        take_long_fields(rest.subspan(entry_size + name_size, extra_size),
                         {&member.size, &packed, &member.header});
        member.stored = little_endian<std::uint16_t>(rest, 10) == 0 && packed == member.size &&
                        (little_endian<std::uint16_t>(rest, 8) & encrypted) == 0;
        const std::string name(reinterpret_cast<const char*>(rest.data() + entry_size), name_size);
        if (!members_.emplace(name, member).second) throw damaged_zip(path());
        rest = rest.subspan(whole);
    }
}

bool ZipFile::has_ending(std::string_view ending) const {
    return std::ranges::any_of(
        members_, [&](const auto& member) { return member.first.ends_with(ending); });
}

std::string ZipFile::name_ending_with(std::string_view ending) const {
    std::string found;
    for (const auto& member : members_) {
        if (!member.first.ends_with(ending)) continue;
        if (!found.empty()) throw damaged_zip(path());
        found = member.first;
    }
    return found;
}

Bytes ZipFile::bytes(const std::string& name) const {
    const auto found = members_.find(name);
    if (found == members_.end())
        throw InputError("is damaged: it lacks its part '" + printable(name) + "'", path());
    const Member& member = found->second;
    if (!member.stored) throw InputError("has compressed parts, which torch.save() does not write", path());
    const Bytes file = file_.bytes();
    if (file.size() < header_size || member.header > file.size() - header_size ||
        little_endian<std::uint32_t>(file, member.header) != header_mark)
        throw damaged_zip(path());
    const std::uint64_t begin = member.header + header_size +
                                little_endian<std::uint16_t>(file, member.header + 26) +
                                little_endian<std::uint16_t>(file, member.header + 28);
    if (begin > file.size() || member.size > file.size() - begin)
        throw InputError("is damaged: it ends within its part '" + printable(name) + "'", path());
    return file.subspan(begin, member.size);
}

}  // namespace bigbird::networks
