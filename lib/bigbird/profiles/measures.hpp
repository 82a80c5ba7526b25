// SPDX-License-Identifier: Apache-2.0
// Figures of profiles against read ends, as chrombpnet has them, and ours.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace bigbird::profiles {

/// The Jensen-Shannon distance (square root of the divergence, natural logarithm) between the shares of the
/// counts and of `profile`, which need not sum to 1: scipy's jensenshannon. NaN without counts.
double profile_distance(std::span<const float> counts, std::span<const float> profile);

/// numpy's quantile by linear interpolation; NaN without values. `values` need not be sorted.
double quantile(std::vector<double> values, double share);
inline double median(std::vector<double> values) {
    return quantile(std::move(values), 0.5);
}

/// The distances of many windows to one kind of profile, and to the uniform one.
struct ProfileDistances {
    std::vector<double> distances{}, uniform{}, reads{};  ///< of each window with reads

    void add(std::span<const float> counts, std::span<const float> profile);
    /// chrombpnet's median of distances, and of 1 - distance / uniform, cut to [0, 1]: the higher the better.
    double median_distance() const { return median(distances); }
    double median_normalized() const;
    /// Ours: the mean weighted by reads, and that of the uniform profile.
    double weighted() const { return weighted(distances); }
    double weighted_uniform() const { return weighted(uniform); }

private:
    double weighted(std::span<const double> values) const;
};

/// sum ln c! - ln N!: the multinomial negative log likelihood of counts under
/// probabilities p is this minus sum c ln p.
double factorial_terms(std::span<const float> counts);

}  // namespace bigbird::profiles
