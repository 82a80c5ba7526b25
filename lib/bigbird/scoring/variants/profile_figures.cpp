// SPDX-License-Identifier: Apache-2.0
#include "bigbird/scoring/variants/profile_figures.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <vector>

namespace bigbird::tasks {

namespace {

/// The positions outside [begin, end), divided by their sum.
std::vector<double> without(std::span<const double> profile, std::int64_t columns, std::int64_t begin,
                            std::int64_t end) {
    std::vector<double> rest(profile.begin(), profile.begin() + begin * columns);
    rest.insert(rest.end(), profile.begin() + end * columns, profile.end());
    const double sum = std::accumulate(rest.begin(), rest.end(), 0.0);
    for (double& value : rest)
        value /= sum;
    return rest;
}

/// p log2(p / m)
double relative_entropy(double p, double m) {
    return p > 0 ? p * std::log2(p / m) : p * 0;
}

}  // namespace

double profile_distance(std::span<const double> ref, std::span<const double> alt, std::int64_t columns,
                        std::int64_t ref_bases, std::int64_t alt_bases) {
    const std::int64_t positions = std::ssize(ref) / columns, middle = positions / 2;
    const std::int64_t begin = std::min(positions, middle + std::min(ref_bases, alt_bases)),
                       end = std::min(positions, middle + std::max(ref_bases, alt_bases));
    const auto kept = [&](std::span<const double> profile, bool longer) {
        return longer ? without(profile, columns, begin, end)
                      : without(profile, columns, positions - (end - begin), positions);
    };
    const std::vector<double> p = kept(ref, ref_bases > alt_bases), q = kept(alt, alt_bases > ref_bases);
    double divergence = 0;
    for (std::size_t i = 0; i < p.size(); ++i) {
        const double mean = (p[i] + q[i]) / 2;
        divergence += (relative_entropy(p[i], mean) + relative_entropy(q[i], mean)) / 2;
    }
    return divergence < 0 ? 0 : std::sqrt(divergence);
}

double quantile_among(std::span<const float> peaks, double reads) {
    if (std::isnan(reads) || peaks.empty()) return std::nan("");
    const auto below = std::ranges::lower_bound(peaks, static_cast<float>(reads)) - peaks.begin();
    return static_cast<double>(std::max<std::ptrdiff_t>(1, below)) / static_cast<double>(peaks.size());
}

}  // namespace bigbird::tasks
