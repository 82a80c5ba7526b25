// SPDX-License-Identifier: Apache-2.0
// A motif as scores of letters, and the p-values of its scores.
#pragma once

#include "bigbird/motifs/motif_files.hpp"

namespace bigbird::motifs {

/// Scores are whole numbers of this many bits, so that their distribution is computed exactly.
inline constexpr double score_unit = 0.01;

/// The background averaged over both strands: A with T, C with G.
Shares both_strands(const Shares& background);

/// log2 of a letter's share at a position over its share in the background, in score_units. As in FIMO, 0.1
/// pseudocounts distributed like the background are added to the sites; a motif without a number of sites
/// counts as 20 sites.
class ScoreMatrix {
public:
    ScoreMatrix(const Motif& motif, const Shares& background);

    std::size_t width() const { return scores_.size(); }
    const std::vector<std::array<std::int32_t, 4>>& scores() const { return scores_; }
    /// The greatest score that a sequence can have.
    std::int32_t most() const { return least_ + static_cast<std::int32_t>(p_.size()) - 1; }
    /// The chance that a random sequence of the background has this score or a higher one.
    double p_value(std::int32_t score) const { return p_[static_cast<std::size_t>(score - least_)]; }
    /// The least score with at most this p-value; most() + 1 where there is none.
    std::int32_t threshold(double p_value) const;
    /// The same motif on the other strand; its p-values are the same.
    std::vector<std::array<std::int32_t, 4>> reversed() const;

private:
    std::vector<std::array<std::int32_t, 4>> scores_;
    std::int32_t least_ = 0;
    std::vector<double> p_;  ///< by score, from least_ on
};

}  // namespace bigbird::motifs
