// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::testing {

inline std::string little_endian_bytes(std::size_t value, int bytes) {
    std::string text;
    for (int i = 0; i < bytes; ++i)
        text += static_cast<char>(value >> 8 * i & 0xFFU);
    return text;
}

/// A zip archive of stored members, without checksums; `method` names another kind of compression than is
/// done. `long_form`: with the records for archives over 4 GB, as PyTorch writes them, and all fields in
/// these.
inline std::string small_zip(const std::vector<std::pair<std::string, std::string>>& members,
                             std::size_t method = 0, bool long_form = false) {
    constexpr std::size_t elsewhere = 0xFFFFFFFF;
    std::string all, list;
    const auto number = [](std::size_t value, int bytes) { return little_endian_bytes(value, bytes); };
    for (const auto& [name, content] : members) {
        const std::string extra = long_form ? number(1, 2) + number(24, 2) + number(content.size(), 8) +
                                                  number(content.size(), 8) + number(all.size(), 8)
                                            : "";
        const std::size_t size = long_form ? elsewhere : content.size();
        const auto shared = [&, letters = name.size()](std::size_t extra_size) {
            return number(method, 2) + std::string(8, '\0') + number(size, 4) + number(size, 4) +
                   number(letters, 2) + number(extra_size, 2);
        };
        list += "PK\x01\x02" + number(20, 2) + number(20, 2) + number(0, 2) + shared(extra.size()) +
                std::string(10, '\0') + number(long_form ? elsewhere : all.size(), 4) + name + extra;
        all += "PK\x03\x04" + number(20, 2) + number(0, 2) + shared(0) + name + content;
    }
    const std::size_t begin = all.size(), end = begin + list.size();
    all += list;
    if (long_form) {
        all += "PK\x06\x06" + number(44, 8) + number(45, 4) + std::string(8, '\0') +
               number(members.size(), 8) + number(members.size(), 8) + number(list.size(), 8) +
               number(begin, 8);
        all += "PK\x06\x07" + number(0, 4) + number(end, 8) + number(1, 4);
    }
    const std::size_t count = long_form ? 0xFFFF : members.size();
    return all + "PK\x05\x06" + std::string(4, '\0') + number(count, 2) + number(count, 2) +
           number(long_form ? elsewhere : list.size(), 4) + number(long_form ? elsewhere : begin, 4) +
           std::string(2, '\0');
}

}  // namespace bigbird::testing
