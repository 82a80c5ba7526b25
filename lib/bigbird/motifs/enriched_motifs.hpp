// SPDX-License-Identifier: Apache-2.0
// Finds motifs that are enriched in the bins with a label, by counting words and by alignment. The filters of
// a model's first convolution can be initialized with them. A few hundred bins are enough for this search to
// find a motif that a randomly initialized network would not learn from them.
#pragma once

#include "bigbird/motifs/motif_files.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace bigbird::motifs {

/// Bins of `length` bases each with their labels: all bins, or a sample enriched in rare labels.
struct LabelledSequence {
    std::int64_t length = 200;
    std::vector<std::uint8_t> codes{};  ///< (bins, length): A C G T as 0 to 3, other letters as 4
    /// Number of leading bins that are all bins, or a random sample of all. The bins after them have a label.
    std::int64_t background = 0;
    /// For each label a random sample of its bins, ascending: all of the background's, and a sample of the
    /// others.
    std::vector<std::vector<std::int32_t>> with{};
    std::vector<std::string> names{};  ///< of labels

    std::int64_t bins() const { return static_cast<std::int64_t>(codes.size()) / length; }
    std::int64_t labels() const { return static_cast<std::int64_t>(with.size()); }
    /// Codes of `count` bins from `bin` on.
    std::span<const std::uint8_t> codes_of(std::int64_t bin, std::int64_t count = 1) const {
        return std::span(codes).subspan(static_cast<std::size_t>(bin * length),
                                        static_cast<std::size_t>(count * length));
    }
};

inline constexpr std::int64_t least_motif_width = 9;

struct MotifSearch {
    std::int64_t width = 21;        ///< bases of a motif, from least_motif_width to a bin's
    std::int64_t most = 48;         ///< motifs
    std::int64_t words = 6;         ///< words tried per label
    std::int64_t fewest_bins = 15;  ///< a label with fewer is not searched
};

/// Each motif starts from a word of 8 bases that is more frequent in the label's bins than in bins of the
/// same GC content. Rounds of alignment to the best site of each bin extend it to `width` bases. Both strands
/// count. Motifs that resemble an earlier one, or hardly distinguish the label's bins, are left out. Tries at
/// most 700 words, the best first. Takes seconds for the largest sample. The motifs have the ids motif_1,
/// motif_2, …, and the names of the labels that they were found for, with _ for blanks. The background is
/// that of the bins. Throws ConfigError if the search is not possible.
MotifSet find_enriched(const LabelledSequence& bins, const MotifSearch& search, int threads);

/// log2 of each letter's share over its share in the background; (width, 4).
std::vector<float> odds_of(const Motif& motif, const Shares& background);

// The steps of the search.

struct SeedWord {
    double z = 0;  ///< deviations above what is expected
    std::int64_t label = 0;
    std::int32_t word = 0;  ///< two bits per base, the first highest; the smaller of both strands' words
};

/// `search.words` words of each label with at least `search.fewest_bins` bins, the most enriched first. The
/// expected frequencies come from the background.
std::vector<SeedWord> seed_words(const LabelledSequence& bins, const MotifSearch& search, int threads);

struct BestSite {
    float score = -std::numeric_limits<float>::infinity();
    std::int64_t begin = 0;
    bool reverse = false;
};

/// Sums odds over the positions of a site, N as the mean of the four letters. Const calls are thread-safe.
class Aligner {
public:
    /// odds: (width, 4), letters in the order A C G T.
    explicit Aligner(std::span<const float> odds);
    /// The best site; of equal ones the first, with this strand's sites before the other's. codes: 0 to 4, at
    /// least as many as the motif's positions.
    BestSite best(std::span<const std::uint8_t> codes) const;

private:
    /// The odds that a letter adds on each strand. As a pair of floats, both are loaded and added together.
    struct Both {
        float forward = 0, reverse = 0;
    };
    std::int64_t width_;
    std::vector<Both> odds_;  // (width, 5)
};

}  // namespace bigbird::motifs
