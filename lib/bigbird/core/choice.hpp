// SPDX-License-Identifier: Apache-2.0
// Enumerations that options and files spell as words.
#pragma once

#include "bigbird/core/error.hpp"

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

namespace bigbird {

template <typename Enum>
struct Choice {
    Enum value;
    std::string_view word;
};
template <typename Enum, std::size_t N>
using Choices = std::array<Choice<Enum>, N>;

/// The word of a value, which must be one of the choices.
template <typename Enum, std::size_t N>
constexpr std::string_view word_of(const Choices<Enum, N>& choices, Enum value) {
    for (const Choice<Enum>& choice : choices)
        if (choice.value == value) return choice.word;
    return {};
}

/// "none, mean or max".
template <typename Enum, std::size_t N>
std::string list_of_words(const Choices<Enum, N>& choices) {
    std::string list;
    for (std::size_t i = 0; i < N; ++i) {
        if (i > 0) list += i + 1 < N ? ", " : " or ";
        list += choices[i].word;
    }
    return list;
}

/// The value of a word. Throws ConfigError: "--pool is none, mean or max, not 'most'".
template <typename Enum, std::size_t N>
Enum parse_choice(const Choices<Enum, N>& choices, std::string_view option, std::string_view word) {
    for (const Choice<Enum>& choice : choices)
        if (choice.word == word) return choice.value;
    throw ConfigError(std::string(option) + " is " + list_of_words(choices) + ", not '" + std::string(word) +
                      "'");
}

}  // namespace bigbird
