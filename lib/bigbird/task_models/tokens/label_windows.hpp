// SPDX-License-Identifier: Apache-2.0
// Windows of one split for training and validation. A window lies within a stretch of the split's bases, so
// no base that one split scores is ever seen by a window of another.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/base_labels.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::task_models {

struct LabelWindow {
    genome::Interval where;
    bool reverse = false;  ///< read as its reverse complement
    /// Bases that count, [counted_begin, counted_end) of the window on the forward strand.
    std::int64_t counted_begin = 0, counted_end = 0;
    bool operator==(const LabelWindow&) const = default;
};

/// Const calls are thread-safe.
class LabelWindows {
public:
    /// Stretches of `bases` without runs of 64 and more N. Reads their sequence once, on `threads` threads.
    /// `reference` and `labels` must outlive this.
    LabelWindows(const genome::ReferenceGenome& reference, const examples::BaseLabels& labels,
                 const genome::IntervalSet& bases, int threads);

    std::int64_t bases() const { return bases_; }
    /// How many of them have each label.
    const std::vector<std::int64_t>& counts() const { return counts_; }

    /// About `count` stretches of at most `length` bases, evenly spaced; those of less than half the length
    /// only where there are no others.
    std::vector<std::string> samples(std::int64_t count, std::int64_t length) const;
    /// A window of at most `size` bases about a base drawn at random, at a random place of the window, on a
    /// random strand where `both_strands`. All its bases count. Needs bases() > 0.
    LabelWindow draw(Rng rng, std::int64_t size, bool both_strands) const;
    /// Windows of at most `size` bases whose counted bases cover every stretch once: all but `margin` bases
    /// at each end, where the stretch goes on there.
    std::vector<LabelWindow> tiles(std::int64_t size, std::int64_t margin) const;

    /// As the network reads it.
    std::string sequence(const LabelWindow& window) const;
    /// The label of each letter of sequence(); -1 where it does not count.
    std::vector<std::int32_t> labels(const LabelWindow& window) const;

private:
    const genome::ReferenceGenome& reference_;
    const examples::BaseLabels& labels_;
    std::vector<genome::Interval> stretches_;
    std::vector<std::int64_t> ends_;  ///< bases up to the end of each stretch
    std::int64_t bases_ = 0;
    std::vector<std::int64_t> counts_;
};

}  // namespace bigbird::task_models
