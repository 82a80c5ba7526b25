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

/// A zip archive of stored members, without checksums; `method` names another kind of compression than is done.
inline std::string small_zip(const std::vector<std::pair<std::string, std::string>>& members, std::size_t method = 0) {
    std::string all, list;
    for (const auto& [name, content] : members) {
        const std::string shared = little_endian_bytes(method, 2) + std::string(8, '\0') +
                                   little_endian_bytes(content.size(), 4) + little_endian_bytes(content.size(), 4) +
                                   little_endian_bytes(name.size(), 2) + little_endian_bytes(0, 2);
        list += "PK\x01\x02" + little_endian_bytes(20, 2) + little_endian_bytes(20, 2) + little_endian_bytes(0, 2) + shared +
                std::string(10, '\0') + little_endian_bytes(all.size(), 4) + name;
        all += "PK\x03\x04" + little_endian_bytes(20, 2) + little_endian_bytes(0, 2) + shared + name + content;
    }
    return all + list + "PK\x05\x06" + std::string(4, '\0') + little_endian_bytes(members.size(), 2) +
           little_endian_bytes(members.size(), 2) + little_endian_bytes(list.size(), 4) + little_endian_bytes(all.size(), 4) +
           std::string(2, '\0');
}

}  // namespace bigbird::testing
