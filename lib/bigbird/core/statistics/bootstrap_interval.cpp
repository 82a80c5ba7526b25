// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/statistics/bootstrap_interval.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <numbers>
#include <numeric>
#include <vector>

namespace bigbird {

namespace {

double normal_distribution(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// The quantile of the standard normal distribution at a probability in (0, 1), by bisection.
double normal_quantile(double probability) {
    double low = -10, high = 10;
    for (int i = 0; i < 80; ++i) {
        const double middle = 0.5 * (low + high);
        (normal_distribution(middle) < probability ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace

Share sum_of(std::span<const Share> shares) {
    return std::accumulate(shares.begin(), shares.end(), Share());
}

std::pair<double, double> bootstrap_interval(std::span<const Share> shares, std::uint64_t seed,
                                             int resamples) {
    if (shares.empty()) return {0, 0};
    const Rng rng = Rng(seed).split("bootstrap");
    std::vector<double> values;
    for (int resample = 0; resample < resamples; ++resample) {
        Rng draw = rng.split(static_cast<std::uint64_t>(resample));
        Share sum;
        for (std::size_t i = 0; i < shares.size(); ++i)
            sum = sum + shares[static_cast<std::size_t>(draw.between(0, std::ssize(shares) - 1))];
        values.push_back(sum.value());
    }
    std::ranges::sort(values);
    const auto at = [&](double share) {
        return values[static_cast<std::size_t>(std::llround(share * static_cast<double>(values.size() - 1)))];
    };
    return {at(0.025), at(0.975)};
}

double quantile(std::span<double> values, double probability) {
    BIGBIRD_EXPECTS(!values.empty(), "a quantile needs values");
    const double position = probability * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(position);
    const auto at = [&](std::size_t rank) {
        std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(rank), values.end());
        return values[rank];
    };
    const double low = at(below);
    const double part = position - static_cast<double>(below);
    return part > 0 ? low + part * (at(below + 1) - low) : low;
}

ConfidenceInterval bias_corrected_interval(double estimate, std::span<double> resampled) {
    double below = 0;
    for (const double value : resampled)
        below += value < estimate ? 1.0 : value == estimate ? 0.5 : 0.0;
    const auto count = static_cast<double>(resampled.size());
    const double bias = normal_quantile(std::clamp(below / count, 0.5 / count, 1 - 0.5 / count));
    constexpr double z_of_95_percent = 1.959963984540054;
    return {quantile(resampled, normal_distribution(2 * bias - z_of_95_percent)),
            quantile(resampled, normal_distribution(2 * bias + z_of_95_percent))};
}

}  // namespace bigbird
