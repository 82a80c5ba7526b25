// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <span>
#include <utility>

namespace bigbird::baselines {

/// One unit's part of a ratio: bits of a document and its bases, hits and tokens.
struct Share {
    double part = 0, of = 0;
    double value() const { return of > 0 ? part / of : 0; }
};

Share sum_of(std::span<const Share> shares);

/// 95 % percentile interval of the ratio of the sums, by bootstrap over the units; a function of the shares
/// and the seed. {0, 0} without units.
std::pair<double, double> bootstrap_interval(std::span<const Share> shares, std::uint64_t seed,
                                             int resamples = 1000);

}  // namespace bigbird::baselines
