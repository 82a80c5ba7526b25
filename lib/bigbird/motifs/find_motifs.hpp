// SPDX-License-Identifier: Apache-2.0
// Motifs in what sequence contributes to a score: the command `motifs find`. A small relative of TF-MoDISco
// (Shrikumar et al., arXiv 1811.00416).
#pragma once

#include "bigbird/motifs/motif_files.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bigbird::motifs {

/// What each base of a region contributes to a score.
struct Contributions {
    std::string dna;              ///< normalised: A C G T N
    std::vector<float> values{};  ///< of each base; not finite: 0
};

struct FoundMotifs {
    std::vector<Motif> motifs{};  ///< pattern_1 and on, those of most sites first
    std::int64_t seqlets = 0;     ///< stretches with high contributions
};

/// A seqlet is a stretch of 21 bases whose |contributions| sum to more than those of bases drawn at random do
/// (by 2.5 deviations of such sums), not nearer than 21 bases to a higher one; the 4,000 highest are kept.
/// The 31 bases about their centres are clustered by the cosine of their contributions at the best offset (10
/// bases at most) and strand; a motif is the letters of a cluster of 10 seqlets or more, cut at both ends to
/// where the mean contribution is at least a fifth of its largest.
FoundMotifs find_motifs(std::span<const Contributions> regions);

}  // namespace bigbird::motifs
