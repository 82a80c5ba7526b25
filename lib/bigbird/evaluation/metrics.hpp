// SPDX-License-Identifier: Apache-2.0
// Figures of merit of scores against 0/1 labels. Definitions are scikit-learn's; undefined values are
// std::nullopt, never a substitute.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
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
/// Values of some figures; none where undefined.
using FigureValues = std::vector<std::optional<double>>;

/// Mean and median of the values that are defined.
struct Summary {
    std::int64_t total = 0, defined = 0;
    std::optional<double> mean, median;
};
Summary summarise(std::span<const std::optional<double>> values);

/// How the threshold of a score is chosen: given, or the one with the best figure on validation rows;
/// `automatic`: the best F1 where rows of validation are scored, else `value`.
struct ThresholdRule {
    enum class Kind : std::uint8_t { automatic, given, best_f1, best_mcc };
    Kind kind = Kind::automatic;
    double value = 0.5;
};
/// A number, "auto", "f1" or "mcc". Throws ConfigError.
ThresholdRule parse_threshold_rule(const std::string& text);

struct ChosenThreshold {
    double threshold = 0;  ///< one of the scores
    double figure = 0;     ///< F1 or MCC there
};
/// The threshold with the best F1 or MCC (the highest of several), if scores from it on count as positive.
/// Returns nullopt if the figure is undefined at every score. O(n log n).
std::optional<ChosenThreshold> best_threshold(std::span<const float> scores,
                                              std::span<const std::uint8_t> labels, ThresholdRule::Kind kind);

// Scores in descending order, sorted once and then weighted as needed. The areas under curves, and their
// resampled values, are computed from this.

/// Undefined without a positive (both) or without a negative (the ROC's).
struct Areas {
    std::optional<double> roc_auc, average_precision;
};

/// Immutable once made; const calls are thread-safe.
class Ranking {
public:
    /// Labels are 0 or 1, scores not NaN. `units` has each row's resampling unit, a small number; without
    /// them each row is its own unit. O(n log n).
    Ranking(std::span<const float> scores, std::span<const std::uint8_t> labels,
            std::span<const std::uint32_t> units = {});

    /// The areas if the rows of unit u count weights[u] times; without weights, once. O(n).
    Areas areas(std::span<const std::uint32_t> weights = {}) const;

private:
    template <typename Weight>
    Areas weighted(const Weight& weight) const;

    std::vector<std::uint32_t> units_;  ///< the rows' units, by descending score
    std::vector<std::uint8_t> labels_;  ///< in that order
    std::vector<std::uint32_t>
        ties_;  ///< ends of the runs of equal scores, in that order; runs without a positive are joined
};

}  // namespace bigbird::evaluation
