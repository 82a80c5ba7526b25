// SPDX-License-Identifier: Apache-2.0
// Counts, and what inputs hold, in messages; small letters.
#pragma once

#include <algorithm>
#include <cctype>
#include <concepts>
#include <cstddef>
#include <string>
#include <string_view>

namespace bigbird {

/// "1 row", "2 rows", "0 classes".
template <std::integral Number>
std::string counted(Number count, std::string_view noun) {
    std::string text = std::to_string(count).append(" ").append(noun);
    if (count == 1) return text;
    return text += noun.ends_with('s') || noun.ends_with('x') || noun.ends_with("ch") ? "es" : "s";
}

/// The text with small letters of ASCII.
inline std::string lower_case(std::string text) {
    std::ranges::transform(text, text.begin(), [](unsigned char letter) { return std::tolower(letter); });
    return text;
}

/// The most bytes of an input, a row or a list, that a message prints.
inline constexpr std::size_t longest_quote = 160;

/// The text, or its beginning and "… (1801 bytes)" if it is long.
inline std::string shortened(std::string_view text) {
    if (text.size() <= longest_quote) return std::string(text);
    std::size_t end = longest_quote;
    while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U)  // within a letter of UTF-8
        --end;
    return std::string(text.substr(0, end)) + "… (" + std::to_string(text.size()) + " bytes)";
}

/// "'a', 'b'", or the first and "and 917 more" if there are many; with `quote` around each.
template <typename Names>
std::string listed(const Names& names, std::string_view quote = "'") {
    std::string list;
    std::size_t shown = 0;
    for (const auto& name : names) {
        const std::string next = std::string(quote) + shortened(name) + std::string(quote);
        if (shown > 0 && list.size() + next.size() > longest_quote)
            return list + " and " + std::to_string(names.size() - shown) + " more";
        list += (shown++ > 0 ? ", " : "") + next;
    }
    return list;
}

}  // namespace bigbird
