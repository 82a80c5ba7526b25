// SPDX-License-Identifier: Apache-2.0
// Words of 8 bases that are more frequent in a label's bins than in bins of the same GC content.
#pragma once

#include "bigbird/bins/motifs.hpp"

#include <cstdint>
#include <vector>

namespace bigbird::bins {

inline constexpr std::int64_t word_length = 8;

struct SeedWord {
    double z = 0;  ///< deviations above what is expected
    std::int64_t label = 0;
    std::int32_t word = 0;  ///< two bits per base, the first highest; the smaller of both strands' words
};

/// `search.words` words of each label with at least `search.fewest_bins` bins, the most enriched first. The
/// expected frequencies come from the background.
std::vector<SeedWord> seed_words(const LabelledSequence& bins, const MotifSearch& search, int threads);

}  // namespace bigbird::bins
