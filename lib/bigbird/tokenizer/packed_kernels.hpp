// SPDX-License-Identifier: Apache-2.0
// Joining by vectors, over symbols that stand side by side, a byte each.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bigbird::tokenizer {

/// left + right -> joined.
struct PackedRule {
    std::uint8_t left, right, joined;
};

inline constexpr std::size_t most_packed_rules = 8;  ///< in one call

/// 64 bits a word, one for each symbol.
constexpr std::size_t mark_words(std::size_t symbols) {
    return (symbols + 63) / 64;
}

/// Where symbols i and i + 1 are a rule's two, sets bit i of `marks` and writes the joined symbol at i; the
/// other bits are cleared. No symbol may be on the left of one rule and on the right of another or the same,
/// so no two places share a symbol. The last symbol must be in no rule. Returns how many bits are set.
std::uint64_t join_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                         std::uint64_t* marks);

/// Sets the bits where symbols i and i + 1 both are `symbol`, which the last one must not be. Returns how
/// many there are.
std::uint64_t mark_runs(const std::uint8_t* symbols, std::size_t size, std::uint8_t symbol,
                        std::uint64_t* marks);

/// Lists the numbers of the bits that are set; returns how many they are. `places` must have room for
/// list_marks_beyond more.
std::size_t list_marks(const std::uint64_t* marks, std::size_t words, std::uint32_t* places);
inline constexpr std::size_t list_marks_beyond = 3;

/// Takes away the symbol behind each marked one; returns how many remain. No two marks may be neighbours.
std::size_t drop_marked(std::uint8_t* symbols, std::size_t size, const std::uint64_t* marks);

/// Adds how often letter `left` stands before letter `right` to counts[left * 5 + right], where nothing is
/// joined yet. The last symbol must be no letter.
void count_letter_pairs(const std::uint8_t* letters, std::size_t size, std::span<std::uint64_t, 25> counts);

}  // namespace bigbird::tokenizer
