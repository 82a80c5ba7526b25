// SPDX-License-Identifier: Apache-2.0
// Figures of merit of scores against classes, labels and numbers. Definitions are scikit-learn's and scipy's;
// undefined values are std::nullopt.
#pragma once

#include "bigbird/evaluation/metrics.hpp"
#include "bigbird/examples/examples.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

/// How often each unit of rows counts; empty: once.
using Weights = std::span<const std::uint32_t>;

/// Scores and truth of one file, sorted once and then weighted as needed. Const calls are thread-safe.
class SequenceMeasure {
public:
    virtual ~SequenceMeasure() = default;
    /// The figures over all rows, with the rows of unit u counted weights[u] times.
    virtual FigureValues figures(Weights weights) const = 0;
    /// The figures of each class, label or number, unweighted.
    virtual std::vector<FigureValues> figures_of_each() const = 0;
    /// Classes: how many rows of a class (outer) are called each (inner); else empty.
    virtual std::vector<std::vector<std::int64_t>> confusion() const { return {}; }

    const std::vector<std::string> names, names_of_each;  ///< of figures() and of figures_of_each()

protected:
    SequenceMeasure(std::vector<std::string> names_of_all, std::vector<std::string> of_each,
                    std::span<const std::uint32_t> units)
        : names(std::move(names_of_all)),
          names_of_each(std::move(of_each)),
          units_(units.begin(), units.end()) {}

    std::vector<std::uint32_t> units_;  ///< of the rows
};

/// `scores`: (rows, columns), row by row; `units`: the unit of each row, from 0. `profiles`: rows of one unit
/// that follow each other with one number are a window; empty where bins are too long for profiles.
struct MeasuredRows {
    std::span<const float> scores;
    std::size_t columns = 0;
    std::span<const std::uint32_t> units;
    std::span<const std::uint32_t> profiles{};
};

/// accuracy, mcc, f1_macro, auroc, auprc. A row is assigned its most probable class, the first of equal ones;
/// with `threshold` and two classes, the second class from this score on. f1_macro is the mean over the
/// classes that occur in truth or calls. auroc and auprc are for the second of two classes, else means over
/// each class against all others.
std::unique_ptr<SequenceMeasure> measure_classes(const MeasuredRows& rows,
                                                 std::span<const std::uint32_t> truth,
                                                 std::optional<double> threshold);

/// Figures of independent labels; a label is predicted positive from `threshold` on. Accuracy is over all
/// rows and labels; the other figures are means over the labels for which they are defined. `truth`: (rows,
/// columns), 0 or 1.
std::unique_ptr<SequenceMeasure> measure_labels(const MeasuredRows& rows, std::span<const std::uint8_t> truth,
                                                double threshold);

/// pearson, spearman, r2, mse; for several numbers their means. `truth`: (rows, columns). More with
/// `coverage`: r2_log1p, r2 of ln(1 + value) with values below 0 as 0. deviance, the mean Poisson deviance.
/// pearson_units and spearman_units, of the units' sums. Undefined below three units. pearson_across,
/// pearson of the values minus their mean over the columns. pearson_mean_track, pearson of the mean of the
/// other columns of `truth`, a floor that needs no sequence. These two are undefined for one column. With
/// `profiles`: profile_jsd, the Jensen-Shannon distance (natural logarithm) between a window's shares of
/// truth and of scores, the mean over windows weighted by their truth; profile_jsd_flat, that to equal
/// shares, a floor.
std::unique_ptr<SequenceMeasure> measure_numbers(const MeasuredRows& rows, std::span<const float> truth,
                                                 bool coverage = false);

}  // namespace bigbird::evaluation
