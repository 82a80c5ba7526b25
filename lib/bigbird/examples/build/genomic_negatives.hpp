// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::examples {

/// Windows of the genome that no TSS has. Const calls are thread-safe.
class GenomicNegatives {
public:
    /// `zone` is where their base 0 may lie; `avoided` is what windows must not touch.
    GenomicNegatives(const genome::ReferenceGenome& reference, const rows::WindowBounds& bounds,
                     double max_n_fraction, const genome::IntervalSet& zone, genome::IntervalSet avoided);

    struct Window {
        std::string contig, sequence;  ///< on its strand
        std::int64_t base = 0;
    };
    /// Uniform over the bases of the zone whose window lies inside its contig, touches nothing avoided and
    /// has not too much N. Throws ConfigError where ten thousand draws find none.
    Window draw(genome::Strand strand, Rng rng) const;

private:
    const genome::ReferenceGenome& reference_;
    rows::WindowBounds bounds_;
    double max_n_fraction_;
    std::vector<genome::Interval> zone_;
    std::vector<std::int64_t> ends_;  ///< running sums of the zone's sizes
    genome::IntervalSet avoided_;
};

}  // namespace bigbird::examples
