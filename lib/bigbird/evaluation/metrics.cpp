// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/metrics.hpp"

#include "bigbird/core/statistics/bootstrap_interval.hpp"
#include "bigbird/evaluation/ranking.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::evaluation {

namespace {

std::optional<double> ratio(double part, double whole) {
    return whole > 0 ? std::optional(part / whole) : std::nullopt;
}

}  // namespace

std::optional<double> roc_auc(std::span<const float> scores, std::span<const std::uint8_t> labels) {
    return Ranking(scores, labels).areas().roc_auc;
}

std::optional<double> average_precision(std::span<const float> scores, std::span<const std::uint8_t> labels) {
    return Ranking(scores, labels).areas().average_precision;
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

}  // namespace bigbird::evaluation
