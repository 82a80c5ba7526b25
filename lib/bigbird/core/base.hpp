// SPDX-License-Identifier: Apache-2.0
// The one table of sequence letters: upper-case A C G T stay, U is T, every other letter is N.
#pragma once

#include <array>
#include <cstddef>

namespace bigbird {

namespace detail {

constexpr std::array<char, 256> make_base_table() {
    std::array<char, 256> table{};
    for (char& entry : table) {
        entry = 'N';
    }
    constexpr char from[] = "ACGTUacgtu", to[] = "ACGTTACGTT";
    for (std::size_t i = 0; i + 1 < sizeof from; ++i) {
        table[static_cast<unsigned char>(from[i])] = to[i];
    }
    return table;
}

inline constexpr std::array<char, 256> base_table = make_base_table();

}  // namespace detail

/// A, C, G, T or N.
constexpr char normalised_base(char letter) {
    return detail::base_table[static_cast<unsigned char>(letter)];
}

}  // namespace bigbird
