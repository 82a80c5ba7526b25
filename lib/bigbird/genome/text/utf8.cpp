// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/text/utf8.hpp"

#include <cstddef>

namespace bigbird::genome {

namespace {

/// Number of bytes of the code point at the beginning of `text`; 0 if there is none (Unicode 15, table 3-7).
std::size_t code_point_bytes(std::string_view text) {
    const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
    const unsigned char first = byte(0);
    if (first < 0x80) return 1;
    if (first < 0xC2 || first > 0xF4) return 0;
    const std::size_t bytes = first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
    if (text.size() < bytes) return 0;
    const unsigned char lowest = first == 0xE0 ? 0xA0 : first == 0xF0 ? 0x90 : 0x80;
    const unsigned char highest = first == 0xED ? 0x9F : first == 0xF4 ? 0x8F : 0xBF;
    if (byte(1) < lowest || byte(1) > highest) return 0;
    for (std::size_t i = 2; i < bytes; ++i)
        if (byte(i) < 0x80 || byte(i) > 0xBF) return 0;
    return bytes;
}

}  // namespace

bool is_utf8(std::string_view text) {
    unsigned char all = 0;
    for (const char letter : text)
        all |= static_cast<unsigned char>(letter);
    if (all < 0x80) return true;
    while (!text.empty()) {
        const std::size_t bytes = code_point_bytes(text);
        if (bytes == 0) return false;
        text.remove_prefix(bytes);
    }
    return true;
}

}  // namespace bigbird::genome
