// SPDX-License-Identifier: Apache-2.0
// Windows of many bins out of labelled stretches of the genome, for training and validation. A window sees
// nothing but its stretch: what lies beyond is N to it and its bins there do not count, so no base that one
// split scores is ever seen by a window of another.
#pragma once

#include "bigbird/bins/grid.hpp"
#include "bigbird/bins/motifs.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/examples/labelled_bins.hpp"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Where a window lies, and how it is read.
struct BinWindow {
    std::size_t stretch = 0;  ///< of LabelledBins::stretches()
    std::int64_t first = 0;   ///< its first bin; may lie before the stretch
    std::int64_t shift = 0;   ///< bases that the sequence is moved by, the labels are not
    bool reverse = false;     ///< the reverse complement, its bins from the last to the first
    /// Bins that count: [counted_begin, counted_end) of the window, before it is reversed.
    std::int64_t counted_begin = 0, counted_end = 0;
    bool operator==(const BinWindow&) const = default;
};

/// Cuts windows of one split. Const calls are thread-safe.
class BinWindows {
public:
    /// `bins` must outlive this. Bins that are N to half or more do not count. Reads all of the split's
    /// sequence once, on `threads` threads.
    BinWindows(const examples::LabelledBins& bins, const bins::Grid& grid, examples::Split split,
               int threads);

    /// Bins that count.
    std::int64_t usable() const { return static_cast<std::int64_t>(usable_.size()); }
    /// How many of them have each label.
    std::vector<std::int64_t> positives() const;

    /// The sequence and labels of the bins that count, in order.
    bins::LabelledSequence labelled_sequence() const;

    /// A window about a bin drawn at random, at a random place of the window, shifted by at most `shift`
    /// bases, on a random strand where `both_strands`. All its bins count. Needs usable() > 0.
    BinWindow draw(Rng rng, std::int64_t shift, bool both_strands) const;
    /// Windows whose counted bins, the cores, cover each stretch once.
    std::vector<BinWindow> tiles() const;

    /// The grid's window_bases() letters.
    std::string sequence(const BinWindow& window) const;
    /// Labels (window_bins, labels), 0 or 1, and for each bin 1 where it counts and 0 elsewhere.
    void copy_labels(const BinWindow& window, std::span<std::uint8_t> labels,
                     std::span<std::uint8_t> counts) const;

private:
    struct Place {
        std::uint32_t stretch = 0;
        std::int64_t bin = 0;
    };
    bool is_usable(const examples::BinStretch& stretch, std::int64_t bin) const;

    const examples::LabelledBins& bins_;
    bins::Grid grid_;
    examples::Split split_;
    std::vector<bool> counts_;   // by row of bins.npy
    std::vector<Place> usable_;  // in order
};

}  // namespace bigbird::task_models
