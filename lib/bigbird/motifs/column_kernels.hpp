// SPDX-License-Identifier: Apache-2.0
// The vectorized inner loop of a scan.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird::motifs {

/// The score that two adjacent letters (4 * first + second) lose against the best letters of a pair of
/// columns. The unit is 1/254 of the largest loss of a hit; `tables` has 16 numbers for each pair of columns.
/// Rounded down, so that no hit is missed.
struct PairTables {
    std::vector<std::uint8_t> tables{};
    std::uint8_t limit = 0;  ///< the largest loss of a hit
    std::size_t pairs() const { return tables.size() / 16; }
};

/// Number of bytes that find_candidates() may read after the last start, besides a motif's length.
inline constexpr std::size_t read_ahead = 1024;

/// Appends the starts i in [0, count) where pairs[i], pairs[i + 2], ... lose at most the limit; pairs[i] is 4
/// * letter i + letter i + 1. The code depends on the processor; the result does not.
void find_candidates(const std::uint8_t* pairs, std::size_t count, const PairTables& tables,
                     std::vector<std::uint32_t>& starts);

}  // namespace bigbird::motifs
