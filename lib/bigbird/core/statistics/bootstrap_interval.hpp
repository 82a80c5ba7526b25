// SPDX-License-Identifier: Apache-2.0
// 95 % intervals by the bootstrap, of two kinds. For a ratio of sums over similar units (bits per base over
// documents), resamples the units and takes percentiles: bootstrap_interval(). For a metric whose value in a
// resample is biased (average precision), computes it in each resample and corrects the percentiles:
// bias_corrected_interval().
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace bigbird {

/// One unit's part of a ratio: bits of a document and its bases, hits and tokens.
struct Share {
    double part = 0, of = 0;
    double value() const { return of > 0 ? part / of : 0; }
    Share operator+(const Share& other) const { return {part + other.part, of + other.of}; }
};

Share sum_of(std::span<const Share> shares);

/// 95 % percentile interval of the ratio of the sums, by bootstrap over the units; a function of the shares
/// and the seed. {0, 0} without units.
std::pair<double, double> bootstrap_interval(std::span<const Share> shares, std::uint64_t seed,
                                             int resamples = 1000);

/// The quantile of at least one value, interpolated linearly as numpy's default does; reorders the values.
double quantile(std::span<double> values, double probability);

struct ConfidenceInterval {
    double low = 0, high = 0;
};

/// The 95 % interval of an estimate from at least one bootstrap value, by bias-corrected percentiles (Efron
/// 1981): average precision tends to be higher in resamples, where rows repeat, than in the full set.
/// Reorders the values.
ConfidenceInterval bias_corrected_interval(double estimate, std::span<double> resampled);

}  // namespace bigbird
