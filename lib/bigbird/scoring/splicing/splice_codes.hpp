// SPDX-License-Identifier: Apache-2.0
// Sequence as splice networks read it, and the other strand.
#pragma once

#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::splicing {

inline constexpr std::uint8_t code_of_n = 4;

/// A C G T are 0 to 3, all other letters 4.
inline std::vector<std::uint8_t> codes_of_text(std::string text) {
    genome::normalise(text);
    std::vector<std::uint8_t> codes(text.size());
    std::ranges::transform(text, codes.begin(), [](char base) {
        return static_cast<std::uint8_t>(
            std::min<std::size_t>(std::string_view("ACGT").find(base), code_of_n));
    });
    return codes;
}

inline void reverse_codes(std::vector<std::uint8_t>& codes) {
    std::ranges::reverse(codes);
    for (std::uint8_t& code : codes)
        if (code < code_of_n) code = static_cast<std::uint8_t>(code_of_n - 1 - code);
}

/// Puts the last position of (positions, channels) first.
inline void reverse_positions(std::vector<float>& values, std::int64_t channels) {
    const auto width = static_cast<std::size_t>(channels);
    for (std::size_t low = 0, high = values.size(); low + width < high; low += width) {
        high -= width;
        std::swap_ranges(values.begin() + static_cast<std::ptrdiff_t>(low),
                         values.begin() + static_cast<std::ptrdiff_t>(low + width),
                         values.begin() + static_cast<std::ptrdiff_t>(high));
    }
}

}  // namespace bigbird::splicing
