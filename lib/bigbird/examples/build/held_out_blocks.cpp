// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/held_out_blocks.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>

namespace bigbird::examples {

namespace {

constexpr std::int64_t enough_peaks = 10, usual_blocks = 10, blocks_for_intervals = 5;
constexpr std::int64_t block_of_evaluation = 100'000;
constexpr std::int64_t fewest_segments = 5, most_segments = 10;  // of which each set gets one
constexpr double most_in_gaps = 0.15;

}  // namespace

PeakBlocks::PeakBlocks(std::span<const UsableBins> usable, std::int64_t bin, std::int64_t gap)
    : usable_(usable), bin_(bin) {
    std::vector<genome::Interval> starts;
    for (const UsableBins& of : usable) {
        std::int64_t previous = -2;
        for (auto next = of.labelled.begin(); const std::int64_t number : of.bins) {
            next = std::find_if(next, of.labelled.end(), [&](std::int64_t one) { return one >= number; });
            if (next != of.labelled.end() && *next == number) {
                if (previous != number - 1) {
                    peaks_.push_back({bins_, bins_});
                    starts.push_back({of.contig, number * bin, (number + 1) * bin});
                }
                peaks_.back().end = bins_ + 1;
                previous = number;
            }
            ++bins_;
        }
    }
    starts_ = genome::IntervalSet(starts);
    gap_ = std::min(gap, static_cast<std::int64_t>(most_in_gaps * static_cast<double>(bins_ * bin) / 2));
}

/// The blocks of a set whose gaps take no more than they may.
std::int64_t PeakBlocks::most_blocks() const {
    const double allowed = most_in_gaps * static_cast<double>(bins_ * bin_);
    return gap_ == 0 ? usual_blocks : static_cast<std::int64_t>(allowed / (2 * static_cast<double>(gap_)));
}

std::int64_t PeakBlocks::peaks_in(const genome::IntervalSet& regions) const {
    return starts_.intersected(regions).bases() / bin_;
}

bool PeakBlocks::are_enough(const genome::IntervalSet& regions) const {
    return peaks_in(regions) >= std::min(enough_peaks, peaks() / fewest_segments) &&
           (regions.bases() >= blocks_for_intervals * block_of_evaluation ||
            most_blocks() < blocks_for_intervals);
}

/// The bin at which a segment begins whose first peak this is: halfway from the peak before.
std::int64_t PeakBlocks::cut_before(std::int64_t peak) const {
    if (peak == 0) return 0;
    if (peak == peaks()) return bins_;
    const auto at = static_cast<std::size_t>(peak);
    return (peaks_[at - 1].end + peaks_[at].begin + 1) / 2;
}

std::vector<std::vector<genome::Interval>> PeakBlocks::choose(std::size_t sets) const {
    BIGBIRD_EXPECTS(peaks() > static_cast<std::int64_t>(sets), "each set needs a peak, and training one");
    const std::int64_t period =
        std::clamp(peaks() / enough_peaks, std::min(fewest_segments, peaks()), most_segments);
    return cut(period, period / 2, sets);
}

std::vector<std::vector<genome::Interval>> PeakBlocks::folds(std::size_t count) const {
    BIGBIRD_EXPECTS(peaks() >= static_cast<std::int64_t>(count), "each fold needs a peak");
    return cut(static_cast<std::int64_t>(count), 0, count);
}

/// In each block the segments from `first` on, of `period`, for the sets in turn. Fewer blocks where the gaps
/// of two sets would have more than a fifth of all peaks.
std::vector<std::vector<genome::Interval>> PeakBlocks::cut(std::int64_t period, std::int64_t first,
                                                           std::size_t sets) const {
    const auto each = static_cast<std::int64_t>(sets);
    std::vector<std::vector<genome::Interval>> chosen;
    const auto peaks_beside = [&](std::size_t set) {
        std::vector<genome::Interval> two = chosen[set];
        const std::vector<genome::Interval>& other = chosen[(set + 1) % sets];
        two.insert(two.end(), other.begin(), other.end());
        return peaks_in(around(two)) - peaks_in(genome::IntervalSet(two));
    };
    std::int64_t blocks =
        std::clamp(most_blocks(), std::int64_t{1}, std::min(peaks() / period, usual_blocks));
    for (std::int64_t most_beside = peaks(); most_beside > peaks() / 5 && blocks > 0; --blocks) {
        chosen.assign(sets, {});
        for (std::int64_t i = 0; i < blocks * each; ++i) {
            const std::int64_t segment = i / each * period + first + i % each;
            const Range range{cut_before(segment * peaks() / (blocks * period)),
                              cut_before((segment + 1) * peaks() / (blocks * period))};
            std::ranges::copy(intervals_of(range),
                              std::back_inserter(chosen[static_cast<std::size_t>(i % each)]));
        }
        most_beside = 0;
        for (std::size_t set = 0; set < sets; ++set)
            most_beside = std::max(most_beside, peaks_beside(set));
    }
    return chosen;
}

/// The range on its contigs.
std::vector<genome::Interval> PeakBlocks::intervals_of(const Range& range) const {
    std::vector<genome::Interval> intervals;
    std::int64_t before = 0;
    for (const UsableBins& of : usable_) {
        const std::int64_t size = std::ssize(of.bins),
                           begin = std::max(range.begin - before, std::int64_t{0}),
                           end = std::min(range.end - before, size);
        before += size;
        if (begin >= end) continue;
        intervals.push_back({of.contig, of.bins[static_cast<std::size_t>(begin)] * bin_,
                             (of.bins[static_cast<std::size_t>(end - 1)] + 1) * bin_});
    }
    return intervals;
}

genome::IntervalSet PeakBlocks::around(std::span<const genome::Interval> regions) const {
    std::vector<genome::Interval> wider(regions.begin(), regions.end());
    for (genome::Interval& region : wider) {
        const auto contig = std::ranges::find(usable_, region.contig, &UsableBins::contig);
        region.begin = std::max(region.begin - gap_, std::int64_t{0});
        region.end = std::min(region.end + gap_, (contig->bins.back() + 1) * bin_);
    }
    return genome::IntervalSet(wider);
}

}  // namespace bigbird::examples
