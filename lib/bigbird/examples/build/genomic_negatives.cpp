// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/genomic_negatives.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>

namespace bigbird::examples {

GenomicNegatives::GenomicNegatives(const genome::ReferenceGenome& reference, const rows::WindowBounds& bounds,
                                   double max_n_fraction, const genome::IntervalSet& zone,
                                   genome::IntervalSet avoided)
    : reference_(reference),
      bounds_(bounds),
      max_n_fraction_(max_n_fraction),
      zone_(zone.intervals()),
      avoided_(std::move(avoided)) {
    std::int64_t sum = 0;
    for (const genome::Interval& interval : zone_) {
        sum += interval.size();
        ends_.push_back(sum);
    }
}

GenomicNegatives::Window GenomicNegatives::draw(genome::Strand strand, Rng rng) const {
    constexpr int most_draws = 10'000;
    for (int i = 0; i < most_draws && !zone_.empty(); ++i) {
        const std::int64_t drawn = rng.between(0, ends_.back() - 1);
        const auto at =
            static_cast<std::size_t>(std::upper_bound(ends_.begin(), ends_.end(), drawn) - ends_.begin());
        const std::int64_t base = zone_[at].end - (ends_[at] - drawn);
        const genome::Interval window = rows::window_about_tss(zone_[at].contig, base, strand, bounds_);
        genome::Interval checked = window;
        if (window.begin < 0 || genome::place(checked, reference_) != genome::Fit::inside ||
            avoided_.overlaps(window)) {
            continue;
        }
        std::string sequence = reference_.fetch(window);
        const double n = genome::n_fraction(sequence);
        if (n > max_n_fraction_ || n == 1.0) {
            continue;
        }
        return {window.contig,
                strand == genome::Strand::reverse ? genome::reverse_complement(sequence) : sequence, base};
    }
    throw ConfigError(
        "--negatives genomic: no window without a TSS was found among the training or held-out regions; hold "
        "out "
        "larger regions, or use random-bases or permuted");
}

}  // namespace bigbird::examples
