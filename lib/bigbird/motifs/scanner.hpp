// SPDX-License-Identifier: Apache-2.0
// Finds the sites of motifs in sequence, on both strands.
#pragma once

#include "bigbird/motifs/motif_files.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <string_view>
#include <vector>

namespace bigbird::motifs {

// A motif as scores of letters, and the p-values of its scores.

/// The scores of A C G T at each position.
using Scores = std::vector<std::array<std::int32_t, 4>>;

/// Scores are whole numbers of this many bits, so that their distribution is computed exactly.
inline constexpr double score_unit = 0.01;

/// The background averaged over both strands: A with T, C with G.
Shares both_strands(const Shares& background);

/// log2 of a letter's share at a position over its share in the background, in score_units. As in FIMO, 0.1
/// pseudocounts distributed like the background are added to the sites; a motif without a number of sites
/// counts as 20 sites.
class ScoreMatrix {
public:
    ScoreMatrix() = default;
    ScoreMatrix(const Motif& motif, const Shares& background);

    std::size_t width() const { return scores_.size(); }
    const Scores& scores() const { return scores_; }
    /// The greatest score that a sequence can have.
    std::int32_t most() const { return least_ + static_cast<std::int32_t>(p_.size()) - 1; }
    /// The chance that a random sequence of the background has this score or a higher one.
    double p_value(std::int32_t score) const { return p_[static_cast<std::size_t>(score - least_)]; }
    /// The least score with at most this p-value; most() + 1 where there is none.
    std::int32_t threshold(double p_value) const;

private:
    Scores scores_;
    std::int32_t least_ = 0;
    std::vector<double> p_;  ///< by score, from least_ on
};

// The vectorized inner loop of a scan (column_kernels.cpp).

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

struct Hit {
    std::uint32_t begin = 0;  ///< position in the scanned sequence
    std::int32_t score = 0;   ///< in score_units
    std::int32_t motif = 0;   ///< index
    bool reverse = false;
    auto operator<=>(const Hit&) const = default;
};

/// Const calls are thread-safe.
class Scanner {
public:
    /// Hits have a p-value of at most `p_value` under the background, both strands counted alike. The
    /// matrices are made on `threads` threads.
    Scanner(const MotifSet& set, double p_value, int threads);

    /// The hits that begin in the first `starts` letters, sorted by begin, score and motif. Sites with
    /// letters other than A C G T are not scored. dna: normalized, less than 2^32 letters.
    std::vector<Hit> scan(std::string_view dna, std::size_t starts) const;
    /// The same result, computed site by site; tests compare scan() with it.
    std::vector<Hit> scan_plainly(std::string_view dna, std::size_t starts) const;

    /// By motif.
    const std::vector<ScoreMatrix>& matrices() const { return matrices_; }
    std::int32_t threshold(std::size_t motif) const { return thresholds_[motif]; }
    std::size_t most_width() const;

private:
    struct Strand {
        Scores scores;
        std::int32_t threshold = 0, motif = 0;
        bool reverse = false;
        PairTables tables{};
    };
    void scan_block(std::span<const std::uint8_t> codes, const std::uint8_t* pairs, std::size_t begin,
                    std::size_t end, std::vector<std::uint32_t>& candidates, std::vector<Hit>& hits) const;

    std::vector<ScoreMatrix> matrices_;
    std::vector<std::int32_t> thresholds_;
    std::vector<Strand> strands_;  ///< strands that can have hits
};

/// Adds to each width the number of sites of so many letters that begin in the first `starts` letters and
/// have only A C G T.
void count_sites(std::string_view dna, std::size_t starts, std::map<std::size_t, std::int64_t>& by_width);

/// The q-value (Benjamini and Hochberg) of each score from a motif's threshold on; `counts`: hits by score,
/// from the threshold on; `tests`: number of scored sites on both strands.
std::vector<double> q_values(const ScoreMatrix& matrix, std::int32_t threshold,
                             std::span<const std::int64_t> counts, std::int64_t tests);

}  // namespace bigbird::motifs
