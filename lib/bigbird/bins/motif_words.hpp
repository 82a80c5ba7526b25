// SPDX-License-Identifier: Apache-2.0
// Words of 8 bases that a label's bins have more often than bins of the same GC content.
#pragma once

#include "bigbird/bins/motifs.hpp"

#include <cstdint>
#include <vector>

namespace bigbird::bins {

inline constexpr std::int64_t word_length = 8;

struct SeedWord {
    double z = 0;  ///< deviations above what is expected
    std::int64_t label = 0;
    std::int32_t word = 0;  ///< two bits per base, the first highest; the lesser of both strands' words
};

/// `search.words` of each label that has `search.fewest_bins`, the most frequent over expectation first.
/// Expectations are the background's.
std::vector<SeedWord> seed_words(const LabelledSequence& bins, const MotifSearch& search, int threads);

}  // namespace bigbird::bins
