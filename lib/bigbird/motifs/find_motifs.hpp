// SPDX-License-Identifier: Apache-2.0
// Finds motifs in contributions of sequence to a score: the command motifs-find, a simplified TF-MoDISco
// (Shrikumar et al., arXiv 1811.00416).
#pragma once

#include "bigbird/motifs/motif_files.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bigbird::motifs {

/// The contributions of a region's bases to a score.
struct Contributions {
    std::string dna;              ///< normalized: A C G T N
    std::vector<float> values{};  ///< value of each base; 0 where not finite
};

struct FoundMotifs {
    std::vector<Motif> motifs{};  ///< pattern_1 and on, most sites first
    std::int64_t seqlets = 0;     ///< stretches with high contributions
};

/// A seqlet is a stretch of 21 bases whose sum of |contributions| exceeds the mean sum of random bases by 2.5
/// standard deviations, at least 21 bases away from any higher seqlet. The 4,000 highest are kept. The 31
/// bases around their centers are clustered by the cosine of their contributions at the best offset (10 bases
/// at most) and strand. A motif is made of the letters of a cluster of 10 seqlets or more. Both ends are
/// trimmed to where the mean contribution is at least a fifth of its maximum.
FoundMotifs find_motifs(std::span<const Contributions> regions);

}  // namespace bigbird::motifs
