// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/measures.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

namespace bigbird::profiles {

double profile_distance(std::span<const float> counts, std::span<const float> profile) {
    const double all = std::reduce(counts.begin(), counts.end(), 0.0),
                 sum = std::reduce(profile.begin(), profile.end(), 0.0);
    if (all <= 0 || sum <= 0) return std::numeric_limits<double>::quiet_NaN();
    double divergence = 0;
    const auto term = [](double p, double mean) { return p > 0 ? p * std::log(p / mean) : 0; };
    for (std::size_t i = 0; i < counts.size(); ++i) {
        const double p = counts[i] / all, q = profile[i] / sum, mean = (p + q) / 2;
        divergence += (term(p, mean) + term(q, mean)) / 2;
    }
    return std::sqrt(std::max(0.0, divergence));
}

double quantile(std::vector<double> values, double share) {
    if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
    std::ranges::sort(values);
    const double at = share * static_cast<double>(values.size() - 1);
    const auto below = static_cast<std::size_t>(at);
    const std::size_t above = std::min(below + 1, values.size() - 1);
    return std::lerp(values[below], values[above], at - static_cast<double>(below));
}

void ProfileDistances::add(std::span<const float> counts, std::span<const float> profile) {
    const double all = std::reduce(counts.begin(), counts.end(), 0.0);
    if (all <= 0) return;
    reads.push_back(all);
    distances.push_back(profile_distance(counts, profile));
    uniform.push_back(profile_distance(counts, std::vector<float>(counts.size(), 1)));
}

double ProfileDistances::median_normalized() const {
    std::vector<double> values;
    for (std::size_t i = 0; i < distances.size(); ++i)
        values.push_back(uniform[i] > 0 ? std::clamp(1 - distances[i] / uniform[i], 0.0, 1.0) : 0);
    return median(std::move(values));
}

double ProfileDistances::weighted(std::span<const double> values) const {
    return std::transform_reduce(values.begin(), values.end(), reads.begin(), 0.0) /
           std::reduce(reads.begin(), reads.end(), 0.0);
}

double factorial_terms(std::span<const float> counts) {
    double all = 0, terms = 0;
    for (const float count : counts) {
        all += count;
        terms += std::lgamma(count + 1.0);
    }
    return terms - std::lgamma(all + 1);
}

}  // namespace bigbird::profiles
