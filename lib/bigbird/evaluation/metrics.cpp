// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/metrics.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/evaluation/ranking.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace bigbird::evaluation {

namespace {

std::optional<double> ratio(double part, double whole) {
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

double normal_distribution(double z) {
    return 0.5 * std::erfc(-z / std::numbers::sqrt2);
}

/// The z of a probability inside (0, 1), by bisection.
double normal_quantile(double probability) {
    double low = -10, high = 10;
    for (int i = 0; i < 80; ++i) {
        const double middle = 0.5 * (low + high);
        (normal_distribution(middle) < probability ? low : high) = middle;
    }
    return 0.5 * (low + high);
}

}  // namespace

std::optional<double> roc_auc(std::span<const float> scores, std::span<const std::uint8_t> labels) {
    return Ranking(scores, labels).areas().roc_auc;
}

std::optional<double> average_precision(std::span<const float> scores, std::span<const std::uint8_t> labels) {
    return Ranking(scores, labels).areas().average_precision;
}

Confusion confusion(std::span<const float> scores, std::span<const std::uint8_t> labels, double threshold) {
    BIGBIRD_EXPECTS(scores.size() == labels.size(), "one label for each score is needed");
    Confusion counts;
    for (std::size_t i = 0; i < scores.size(); ++i) {
        counts.count(labels[i] != 0, static_cast<double>(scores[i]) >= threshold);
    }
    return counts;
}

void Confusion::count(bool positive, bool predicted, std::int64_t times) {
    std::int64_t& cell = positive ? (predicted ? true_positives : false_negatives)
                                  : (predicted ? false_positives : true_negatives);
    cell += times;
}

std::optional<double> Confusion::accuracy() const {
    const auto right = static_cast<double>(true_positives + true_negatives);
    return ratio(right, right + static_cast<double>(false_positives + false_negatives));
}

std::optional<double> Confusion::precision() const {
    return ratio(static_cast<double>(true_positives), static_cast<double>(true_positives + false_positives));
}

std::optional<double> Confusion::recall() const {
    return ratio(static_cast<double>(true_positives), static_cast<double>(true_positives + false_negatives));
}

std::optional<double> Confusion::f1() const {
    return ratio(2.0 * static_cast<double>(true_positives),
                 static_cast<double>(2 * true_positives + false_positives + false_negatives));
}

std::optional<double> Confusion::mcc() const {
    const auto tp = static_cast<double>(true_positives), fp = static_cast<double>(false_positives);
    const auto tn = static_cast<double>(true_negatives), fn = static_cast<double>(false_negatives);
    const double margins = std::sqrt(tp + fp) * std::sqrt(tp + fn) * std::sqrt(tn + fp) * std::sqrt(tn + fn);
    return margins > 0 ? std::optional((tp * tn - fp * fn) / margins) : std::nullopt;
}

Summary summarise(std::span<const std::optional<double>> values) {
    Summary summary;
    summary.total = static_cast<std::int64_t>(values.size());
    std::vector<double> defined;
    double sum = 0;
    for (const auto& value : values) {
        if (value) {
            defined.push_back(*value);
            sum += *value;
        }
    }
    summary.defined = static_cast<std::int64_t>(defined.size());
    if (!defined.empty()) {
        summary.mean = sum / static_cast<double>(defined.size());
        summary.median = quantile(defined, 0.5);
    }
    return summary;
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
    for (const double value : resampled) {
        below += value < estimate ? 1.0 : value == estimate ? 0.5 : 0.0;
    }
    const auto count = static_cast<double>(resampled.size());
    const double bias = normal_quantile(std::clamp(below / count, 0.5 / count, 1 - 0.5 / count));
    constexpr double z_of_95_percent = 1.959963984540054;
    return {quantile(resampled, normal_distribution(2 * bias - z_of_95_percent)),
            quantile(resampled, normal_distribution(2 * bias + z_of_95_percent))};
}

}  // namespace bigbird::evaluation
