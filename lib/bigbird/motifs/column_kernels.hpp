// SPDX-License-Identifier: Apache-2.0
// The inner loop of a scan by vector instructions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace bigbird::motifs {

/// What two adjacent letters (4 * first + second) lose against the best letters of a pair of columns. The
/// unit is 1/254 of the most that a hit may lose; `tables` has 16 numbers for each pair of columns. Rounded
/// down, so that no hit is missed.
struct PairTables {
    std::vector<std::uint8_t> tables{};
    std::uint8_t limit = 0;  ///< what a hit loses at most
    std::size_t pairs() const { return tables.size() / 16; }
};

/// Bytes that find_candidates() may read behind the last start, besides a motif's length.
inline constexpr std::size_t read_ahead = 1024;

/// Appends the starts i in [0, count) where pairs[i], pairs[i + 2], ... lose at most the limit; pairs[i] is 4
/// * letter i + letter i + 1. Which code computes it is chosen by the processor; the result is the same.
void find_candidates(const std::uint8_t* pairs, std::size_t count, const PairTables& tables,
                     std::vector<std::uint32_t>& starts);

}  // namespace bigbird::motifs
