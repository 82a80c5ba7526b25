// SPDX-License-Identifier: Apache-2.0
// What variant-scorer (github.com/kundajelab/variant-scorer) says of two predictions of a profile model.
// Peaks are centered on their summits here; variant-scorer reads their windows one base further left.
#pragma once

#include <cstdint>
#include <span>

namespace bigbird::tasks {

/// The Jensen-Shannon distance, the square root of the divergence to base 2, of the profiles of two alleles:
/// probabilities or multiples of them, (positions, columns) each. The alleles' first base is at position
/// positions / 2. If they differ in length, the longer one's profile loses the bases that it has more,
/// positions / 2 + shorter … positions / 2 + longer, and the other one as many positions at its end, so that
/// like is compared with like.
double profile_distance(std::span<const double> ref, std::span<const double> alt, std::int64_t columns,
                        std::int64_t ref_bases = 1, std::int64_t alt_bases = 1);
/// The share of `peaks`, ascending, with fewer reads, but at least one peak's; NaN for NaN, or without peaks.
double quantile_among(std::span<const float> peaks, double reads);

}  // namespace bigbird::tasks
