// SPDX-License-Identifier: Apache-2.0
// Merging by vectors, over symbols that stand side by side, a byte each.
#pragma once

#include "bigbird/tokenizer/train/storage/packed_lists.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace bigbird::tokenizer {

/// left + right -> merged.
struct PackedRule {
    std::uint8_t left, right, merged;
};

inline constexpr std::size_t most_packed_rules = 8;  ///< in one call

/// Merges symbols i and i + 1 wherever they are a rule's two, closes up, and lists where the merged symbols
/// then stand; returns how many they are, by which the symbols have become fewer. No symbol may be on the
/// left of one rule and on the right of another or the same, so no two pairs share a symbol. The last symbol
/// must be in no rule. `positions` must have room for list_beyond more.
std::size_t merge_pairs(std::uint8_t* symbols, std::size_t size, std::span<const PackedRule> rules,
                        std::uint32_t* positions);
inline constexpr std::size_t list_beyond = 4;

/// Merges `symbol` with `symbol`, in each run from its first one, or from its second where `odd` holds for
/// what stands before the run; otherwise as merge_pairs(). The last symbol must be another one. symbols[-1]
/// is read.
std::size_t merge_runs(std::uint8_t* symbols, std::size_t size, std::uint8_t symbol, std::uint8_t merged,
                       const OddRuns& odd, std::uint32_t* positions);

/// How many pairs merge_runs() would merge.
std::size_t count_runs(const std::uint8_t* symbols, std::size_t size, std::uint8_t symbol,
                       const OddRuns& odd);

/// Adds how often letter `left` stands before letter `right` to counts[left * 5 + right], where nothing is
/// merged yet. The last symbol must be no letter.
void count_letter_pairs(const std::uint8_t* letters, std::size_t size, std::span<std::uint64_t, 25> counts);

}  // namespace bigbird::tokenizer
