// SPDX-License-Identifier: Apache-2.0
// Figures of merit of scores against labels, classes and numbers. Definitions are scikit-learn's and scipy's;
// undefined values are std::nullopt, never a substitute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::evaluation {

/// Counts at a threshold: predicted positive where score >= threshold.
struct Confusion {
    std::int64_t true_positives = 0, false_positives = 0, true_negatives = 0, false_negatives = 0;

    /// Counts a row `times` times.
    void count(bool positive, bool predicted, std::int64_t times = 1);
    double positives() const { return static_cast<double>(true_positives + false_negatives); }
    double predicted() const { return static_cast<double>(true_positives + false_positives); }
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

/// How often each unit of rows counts; empty: once.
using Weights = std::span<const std::uint32_t>;

/// Area under the ROC curve, ties counted half; undefined without a positive or without a negative. Average
/// precision, the sum over thresholds of (recall step) x precision, tied scores one threshold; undefined
/// without a positive.
struct Areas {
    std::optional<double> roc_auc, average_precision;
};

/// Scores in descending order, sorted once and then weighted as needed. Immutable once made; const calls are
/// thread-safe.
class Ranking {
public:
    /// Labels are 0 or 1, scores not NaN. `units` has each row's resampling unit, a small number; without
    /// them each row is its own unit. `times`: how often each row occurs; empty: once. O(n log n).
    Ranking(std::span<const float> scores, std::span<const std::uint8_t> labels,
            std::span<const std::uint32_t> units = {}, std::span<const std::int64_t> times = {});

    /// The areas if the rows of unit u count weights[u] times. O(n).
    Areas areas(Weights weights = {}) const;

private:
    template <typename Weight>
    Areas weighted(const Weight& weight) const;

    std::vector<std::uint32_t> units_;  ///< the rows' units, by descending score
    std::vector<std::uint8_t> labels_;  ///< in that order
    std::vector<std::int64_t> times_;   ///< in that order; empty: once
    std::vector<std::uint32_t>
        ties_;  ///< ends of the runs of equal scores, in that order; runs without a positive are joined
};

/// Scores by column, each of all rows.
struct MeasuredRows {
    std::vector<std::span<const float>> scores;
    std::span<const std::uint32_t> units{};     ///< of each row, from 0; empty: nothing is weighted
    std::span<const std::uint32_t> profiles{};  ///< measure_numbers()
    std::span<const std::int64_t> times{};      ///< measure_classes(): how often each row occurs; empty: once

    double weight(Weights weights, std::size_t row) const {
        return weights.empty() ? 1.0 : static_cast<double>(weights[units[row]]);
    }
};

/// The figures of each column (a label, class or number) and of all together, as functions of the weights of
/// units. Scores, truths and units must outlive it. Thread-safe.
struct Measure {
    using Column = std::function<FigureValues(Weights)>;

    std::size_t columns = 0;
    std::vector<std::string> names{}, names_of_each{};
    /// Sorts a column. What it returns gives the column's figures: those of names_of_each, then others that
    /// `all` needs.
    std::function<Column(std::size_t)> column{};
    /// The figures of all columns together, from what each column gave.
    std::function<FigureValues(const std::vector<FigureValues>&)> all{};

    std::vector<FigureValues> figures_of_each(Weights weights = {}) const;
    FigureValues figures(Weights weights = {}) const { return all(figures_of_each(weights)); }
};

/// The class with the largest score of each row, the first of equal ones; with `threshold`, the second class
/// from this score on, else the first.
std::vector<std::uint32_t> called_classes(const MeasuredRows& rows, std::optional<double> threshold = {});

/// accuracy, mcc, f1_macro, auroc, auprc of called_classes(). f1_macro is the mean over the classes that
/// occur in truth or calls. auroc and auprc are for the second of two classes, else means over each class
/// against all others. `truth`: the class of each row.
Measure measure_classes(const MeasuredRows& rows, std::span<const std::uint32_t> truth,
                        std::optional<double> threshold = {});

/// Figures of independent labels; a label is predicted positive from `threshold` on. All are means over the
/// labels for which they are defined. Without `threshold` only auroc and auprc. `truth`: 0 or 1, by label.
Measure measure_labels(const MeasuredRows& rows, std::vector<std::span<const std::uint8_t>> truth,
                       std::optional<double> threshold);

/// pearson, spearman, r2, mse; for several numbers their means. `truth` by column. More with `coverage`:
/// r2_log1p, r2 of ln(1 + value) with values below 0 as 0. deviance, the mean Poisson deviance.
/// pearson_units and spearman_units, of the units' sums. Undefined below three units. pearson_across,
/// pearson of the values minus their mean over the columns. pearson_mean_track, pearson of the mean of the
/// other columns of `truth`, a floor that needs no sequence. These two are undefined for one column. With
/// `profiles` (rows of one unit that follow each other with one number are a window): profile_jsd, the
/// Jensen-Shannon distance (natural logarithm) between a window's shares of truth and of scores, the mean
/// over windows weighted by their truth; profile_jsd_flat, that to equal shares, a floor.
Measure measure_numbers(const MeasuredRows& rows, std::vector<std::span<const float>> truth,
                        bool coverage = false);

/// pearson, r2 and mse of a column, as measure_numbers() has them.
struct LinearFigures {
    std::optional<double> pearson, r2, mse;
};
LinearFigures linear_figures(std::span<const float> predicted, std::span<const float> truth);

}  // namespace bigbird::evaluation
