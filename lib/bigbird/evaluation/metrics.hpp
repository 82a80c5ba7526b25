// SPDX-License-Identifier: Apache-2.0
// Figures of merit of scores against 0/1 labels. Definitions are scikit-learn's; undefined values are
// std::nullopt, never a substitute.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::evaluation {

/// Area under the ROC curve, ties counted half. Undefined without a positive or without a negative. Scores
/// must not be NaN. O(n log n).
std::optional<double> roc_auc(std::span<const float> scores, std::span<const std::uint8_t> labels);

/// Average precision: sum over thresholds of (recall step) x precision, tied scores one threshold. Undefined
/// without a positive.
std::optional<double> average_precision(std::span<const float> scores, std::span<const std::uint8_t> labels);

/// Counts at a threshold: predicted positive where score >= threshold.
struct Confusion {
    std::int64_t true_positives = 0, false_positives = 0, true_negatives = 0, false_negatives = 0;

    /// Counts a row `times` times.
    void count(bool positive, bool predicted, std::int64_t times = 1);
    std::optional<double> accuracy() const;   ///< undefined without rows
    std::optional<double> precision() const;  ///< undefined if nothing is predicted positive
    std::optional<double> recall() const;     ///< undefined if nothing is positive
    std::optional<double> f1() const;         ///< undefined if nothing is or is predicted positive
    std::optional<double> mcc() const;        ///< undefined if a margin of the table is 0
};
/// Mean and median of the values that are defined.
struct Summary {
    std::int64_t total = 0, defined = 0;
    std::optional<double> mean, median;
};
Summary summarise(std::span<const std::optional<double>> values);

}  // namespace bigbird::evaluation
