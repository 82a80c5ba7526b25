// SPDX-License-Identifier: Apache-2.0
// Holds out blocks spread over the genome, where peaks are so few that a contig, or a stretch of one, may
// hold none of them. A fixed rule: the same bins and peaks give the same blocks.
#pragma once

#include "bigbird/genome/regions/interval_set.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bigbird::examples {

/// A contig's bins that can be held out, and its bins with a label, both ascending.
struct UsableBins {
    std::string contig{};
    std::vector<std::int64_t> bins{}, labelled{};
};

/// A genome's usable bins, numbered through its contigs, and its peaks: runs of adjacent bins with a label.
class PeakBlocks {
public:
    /// `usable` must outlive this. `bin`: bases. `gap`: bases on both sides of a block that are in no split.
    PeakBlocks(std::span<const UsableBins> usable, std::int64_t bin, std::int64_t gap);

    std::int64_t peaks() const { return std::ssize(peaks_); }
    /// Whether the regions have ten peaks, or a fifth of all, and five of evaluation's blocks of 100 kb,
    /// unless five blocks do not fit.
    bool are_enough(const genome::IntervalSet& regions) const;
    /// Makes `sets` disjoint choices, in order. The genome is cut, halfway between peaks, into segments with
    /// about equally many peaks. Of every five to ten segments, each set gets one, next to the other set's.
    /// So a set has ten peaks, or a fifth or a tenth of all, in up to ten blocks; in fewer where gaps would
    /// take more than 15 % of the genome. Needs a peak for each set and one more.
    std::vector<std::vector<genome::Interval>> choose(std::size_t sets) const;
    /// Makes `count` disjoint choices in the same way, that together cover all usable bins. Needs as many
    /// peaks.
    std::vector<std::vector<genome::Interval>> folds(std::size_t count) const;
    /// Bases of the chosen regions' contigs in them or within the gap of them; the gap is shorter where even
    /// one block's would take more than 15 %.
    genome::IntervalSet around(std::span<const genome::Interval> regions) const;
    /// Number of peaks in the regions.
    std::int64_t peaks_in(const genome::IntervalSet& regions) const;

private:
    struct Range {
        std::int64_t begin = 0, end = 0;  ///< numbers of bins
    };

    std::int64_t most_blocks() const;
    std::vector<std::vector<genome::Interval>> cut(std::int64_t period, std::int64_t first,
                                                   std::size_t sets) const;
    std::int64_t cut_before(std::int64_t peak) const;
    std::vector<genome::Interval> intervals_of(const Range& range) const;

    std::span<const UsableBins> usable_;
    std::int64_t bin_, gap_, bins_ = 0;
    std::vector<Range> peaks_;
    genome::IntervalSet starts_;  ///< the first bin of each peak
};

/// Fewer peaks are not held out by rule: too few would be left to learn from.
inline constexpr std::int64_t least_peaks_to_hold_out = 10;

}  // namespace bigbird::examples
