// SPDX-License-Identifier: Apache-2.0
// Evaluates scores, with confidence intervals. Neighboring bins share most of their windows, and a negative
// is made from its promoter. So blocks of the genome are resampled, not rows; intervals from rows would be
// far too narrow.
#pragma once

#include "bigbird/core/rng.hpp"
#include "bigbird/evaluation/curves/curve.hpp"
#include "bigbird/evaluation/metrics.hpp"
#include "bigbird/evaluation/score_join.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::evaluation {

struct EvaluationOptions {
    std::int64_t min_positives =
        1;  ///< labels with fewer positives among the rows are left out of the means and medians
    int resamples = 1000;  ///< bootstrap resamples; 0: no intervals
    std::int64_t block_size = 100'000;
    double threshold = 0.5;  ///< threshold of promoter scores
    std::uint64_t seed = 0;
    int threads = 1;

    /// Throws ConfigError.
    void validate() const;
};

/// A figure and its 95 % interval: bias-corrected percentiles (Efron 1981) of the resamples in which it is
/// defined. There is no interval if these are fewer than half, or if there is only one block.
struct Figure {
    std::optional<double> value, low, high;
};

/// Values of the same figures: of all rows, and of each resample.
struct ResampledFigures {
    FigureValues whole{};
    std::vector<FigureValues> resampled{};
};

/// Each value with the interval from its resamples.
std::vector<Figure> with_intervals(const ResampledFigures& figures);
/// `of` minus `from` for each figure. Both must have the same rows, units and seed. Then their resamples are
/// the same draws, and the intervals are those of paired differences.
std::vector<Figure> differences(const ResampledFigures& of, const ResampledFigures& from);
/// How often each of `blocks` blocks is drawn in resample `index`.
std::vector<std::uint32_t> draw_blocks(const Rng& stream, std::int64_t index, std::size_t blocks);

struct LabelFigures {
    std::size_t label = 0;
    std::int64_t positives = 0;
    double base_rate = 0;     ///< share of positive rows: the average precision of random scores
    bool summarised = false;  ///< counts in its group's figures
    Figure roc_auc, average_precision;
    std::vector<CurvePoint> curve;  ///< empty if not summarized
};

/// Figures over the labels of a group that have enough positives and a defined area.
struct GroupFigures {
    std::string group;  ///< "all" for all labels
    std::int64_t labels = 0, defined = 0;
    std::vector<std::size_t> members{};  ///< positions in Evaluation::labels of those that are defined
    std::optional<double> mean_base_rate{};
    Figure mean_roc_auc{}, median_roc_auc{}, mean_average_precision{}, median_average_precision{};
};

/// Figures of one label at a threshold.
struct ThresholdFigures {
    double threshold = 0.5;
    Confusion counts;
    Figure f1{}, precision{}, recall{}, mcc{}, accuracy{};
};

struct Evaluation {
    std::int64_t rows = 0, not_scored = 0, blocks = 0;
    std::vector<LabelFigures> labels;
    std::vector<GroupFigures> groups;              ///< "all" first where there is more than one group
    std::optional<ThresholdFigures> at_threshold;  ///< promoters
    std::optional<Reliability> reliability;        ///< over all rows of all summarized labels
    /// All figures in one row: two per label (AUROC, AUPRC), four per group (mean and median of both), five
    /// at the threshold.
    ResampledFigures all;
};

/// The evaluation `of` with differences() as its figures.
Evaluation difference(Evaluation of, const Evaluation& from);

/// A fixed function of its inputs and the seed, for any number of threads.
Evaluation evaluate(const examples::ExampleSet& examples, const ScoredExamples& scored,
                    const EvaluationOptions& options);

}  // namespace bigbird::evaluation
