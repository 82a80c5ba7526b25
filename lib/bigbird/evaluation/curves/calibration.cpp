// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/calibration.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

namespace bigbird::evaluation {

namespace {

// The search that both fits share: Newton's steps with a line search.

constexpr double least_slope = 1e-3;
constexpr double tiny = 1e-12;  // smallest curvature, for labels that are separated without errors

/// The parameters that a calibration fit optimizes, or a step between two sets of them.
struct CalibrationPoint {
    double slope = 1;  ///< 1 / temperature
    std::vector<double> biases;
};

CalibrationPoint no_calibration(std::size_t labels) {
    return {.slope = 1, .biases = std::vector<double>(labels, 0.0)};
}

CalibrationPoint moved(const CalibrationPoint& from, const CalibrationPoint& step, double part) {
    CalibrationPoint to = from;
    to.slope += part * step.slope;
    for (std::size_t i = 0; i < to.biases.size(); ++i)
        to.biases[i] += part * step.biases[i];
    return to;
}

/// The decrease of the sum per unit of the step, at the step's beginning.
double descent(const CalibrationPoint& gradient, const CalibrationPoint& step) {
    double sum = -gradient.slope * step.slope;
    for (std::size_t i = 0; i < step.biases.size(); ++i)
        sum -= gradient.biases[i] * step.biases[i];
    return sum;
}

/// The minimum of the sum, searched from the identity calibration on. `fitter.at(point)` gives an objective
/// with the sum, `value`, its `gradient` there, and `newton_step(slope)`, which leaves the slope at
/// least_slope or above.
template <typename Fitter>
CalibrationPoint minimum(const Fitter& fitter, std::size_t labels) {
    constexpr int most_steps = 100, most_halvings = 30;
    CalibrationPoint point = no_calibration(labels);
    auto here = fitter.at(point);
    for (int i = 0; i < most_steps; ++i) {
        const CalibrationPoint step = here.newton_step(point.slope);
        const double fall = descent(here.gradient, step);
        if (!(fall > 1e-12 * (here.value > 1 ? here.value : 1))) break;
        double part = 1;
        CalibrationPoint next = moved(point, step, part);
        auto there = fitter.at(next);
        for (int halving = 0; !(there.value <= here.value - 1e-4 * part * fall) && halving < most_halvings;
             ++halving) {
            part /= 2;
            next = moved(point, step, part);
            there = fitter.at(next);
        }
        if (!(there.value < here.value)) break;
        point = std::move(next);
        here = std::move(there);
    }
    return point;
}

/// Newton's step of the slope, which stays at least_slope or above.
double slope_step(double slope, double by_slope, double curvature) {
    const bool at_the_end = slope <= least_slope && by_slope > 0;
    return at_the_end ? 0 : std::max(-by_slope / std::max(curvature, tiny), least_slope - slope);
}

/// The calibration there. `fitter.mean(point)` gives the mean cross entropy.
template <typename Fitter>
CalibrationFit fit_from(const Fitter& fitter, std::size_t labels) {
    const CalibrationPoint found = minimum(fitter, labels);
    return {.calibration = {.temperature = 1 / found.slope, .biases = found.biases},
            .loss_before = fitter.mean(no_calibration(labels)),
            .loss_after = fitter.mean(found)};
}

// Independent labels.

/// One label at a slope and a bias: the cross entropy, its gradient and its second derivatives.
struct LabelSums {
    double loss = 0;
    double by_slope = 0, by_bias = 0;
    double slope_slope = 0, slope_bias = 0, bias_bias = 0;
};

LabelSums sums_of(std::span<const float> logits, std::span<const std::uint8_t> truth, double slope,
                  double bias) {
    LabelSums sums;
    for (std::size_t i = 0; i < logits.size(); ++i) {
        const double x = static_cast<double>(logits[i]), z = slope * x + bias;
        const double small = std::exp(-std::abs(z)), p = (z >= 0 ? 1.0 : small) / (1 + small);
        const double one = truth[i] != 0 ? 1 : 0, error = p - one,
                     curvature = small / ((1 + small) * (1 + small));
        sums.loss += std::log1p(small) + std::max(z, 0.0) - one * z;
        sums.by_slope += error * x;
        sums.by_bias += error;
        sums.slope_slope += curvature * x * x;
        sums.slope_bias += curvature * x;
        sums.bias_bias += curvature;
    }
    return sums;
}

/// The sum that is minimized, and each label's part of it.
struct LabelObjective {
    double value = 0, slope_slope = 0;
    CalibrationPoint gradient;
    std::vector<LabelSums> labels;

    CalibrationPoint newton_step(double slope) const;
};

class LabelFitter {
public:
    LabelFitter(std::span<const float> logits, std::span<const std::uint8_t> truth, std::size_t labels,
                int threads, double pull)
        : logits_(logits),
          truth_(truth),
          labels_(labels),
          rows_(logits.size() / labels),
          threads_(threads),
          pull_(pull) {}

    LabelObjective at(const CalibrationPoint& point) const {
        LabelObjective objective;
        objective.labels.resize(labels_);
        parallel_for(static_cast<std::int64_t>(labels_), threads_, [&](std::int64_t i) {
            const auto label = static_cast<std::size_t>(i);
            objective.labels[label] = of_label(label, point);
        });
        const double from_one = point.slope - 1;
        objective.value = 0.5 * pull_ * from_one * from_one;
        objective.gradient.slope = pull_ * from_one;
        objective.slope_slope = pull_;
        for (const LabelSums& sums : objective.labels) {
            objective.value += sums.loss;
            objective.gradient.slope += sums.by_slope;
            objective.gradient.biases.push_back(sums.by_bias);
            objective.slope_slope += sums.slope_slope;
        }
        return objective;
    }
    double mean(const CalibrationPoint& point) const {
        double loss = 0;
        for (std::size_t label = 0; label < labels_; ++label)
            loss += without_pull(label, point).loss;
        return loss / static_cast<double>(labels_ * rows_);
    }

private:
    LabelSums without_pull(std::size_t label, const CalibrationPoint& point) const {
        return sums_of(logits_.subspan(label * rows_, rows_), truth_.subspan(label * rows_, rows_),
                       point.slope, point.biases[label]);
    }
    LabelSums of_label(std::size_t label, const CalibrationPoint& point) const {
        LabelSums sums = without_pull(label, point);
        const double bias = point.biases[label];
        sums.loss += 0.5 * pull_ * bias * bias;
        sums.by_bias += pull_ * bias;
        sums.bias_bias += pull_;
        return sums;
    }

    std::span<const float> logits_;
    std::span<const std::uint8_t> truth_;
    std::size_t labels_, rows_;
    int threads_;
    double pull_;
};

/// Biases interact only through the slope, so eliminating them leaves one unknown.
CalibrationPoint LabelObjective::newton_step(double slope) const {
    double by_slope = gradient.slope, curvature = slope_slope;
    for (const LabelSums& label : labels) {
        const double share = label.slope_bias / (label.bias_bias + tiny);
        by_slope -= share * label.by_bias;
        curvature -= share * label.slope_bias;
    }
    CalibrationPoint step{.slope = slope_step(slope, by_slope, curvature), .biases = {}};
    for (const LabelSums& label : labels)
        step.biases.push_back(-(label.by_bias + label.slope_bias * step.slope) / (label.bias_bias + tiny));
    return step;
}

// Labels that exclude each other.

constexpr std::size_t chunk_rows = std::size_t{1} << 14;

/// Adjacent rows with equal logits, such as the bases of one token, are counted together.
struct CountedRows {
    std::size_t labels = 0, rows = 0;
    std::vector<float> logits = {};         // (runs, labels)
    std::vector<std::int32_t> counts = {};  // (runs, labels): rows of each label

    std::size_t runs() const { return logits.size() / labels; }
    std::span<const float> logits_of(std::size_t run) const {
        return std::span(logits).subspan(run * labels, labels);
    }
    std::span<const std::int32_t> counts_of(std::size_t run) const {
        return std::span(counts).subspan(run * labels, labels);
    }
};

CountedRows counted(std::span<const float> logits, std::span<const std::int32_t> truth, std::size_t labels) {
    CountedRows rows{.labels = labels, .rows = truth.size()};
    for (std::size_t row = 0; row < truth.size(); ++row) {
        const std::span<const float> values = logits.subspan(row * labels, labels);
        if (row == 0 || !std::ranges::equal(values, rows.logits_of(rows.runs() - 1))) {
            rows.logits.insert(rows.logits.end(), values.begin(), values.end());
            rows.counts.resize(rows.counts.size() + labels);
        }
        ++rows.counts[rows.counts.size() - labels + static_cast<std::size_t>(truth[row])];
    }
    return rows;
}

/// The cross entropy over some rows, its gradient and its second derivatives.
struct Sums {
    explicit Sums(std::size_t labels)
        : gradient{.slope = 0, .biases = std::vector<double>(labels)},
          slope_bias(labels),
          bias_bias(labels * labels) {}

    double value = 0, slope_slope = 0;
    CalibrationPoint gradient;
    std::vector<double> slope_bias, bias_bias;  // (labels), and the lower triangle of (labels, labels)

    CalibrationPoint newton_step(double slope) const;
    void operator+=(const Sums& other) {
        value += other.value;
        slope_slope += other.slope_slope;
        gradient.slope += other.gradient.slope;
        for (std::size_t i = 0; i < slope_bias.size(); ++i) {
            gradient.biases[i] += other.gradient.biases[i];
            slope_bias[i] += other.slope_bias[i];
        }
        for (std::size_t i = 0; i < bias_bias.size(); ++i)
            bias_bias[i] += other.bias_bias[i];
    }
};

/// Adds runs of rows to sums.
class Adder {
public:
    Adder(const CalibrationPoint& point, Sums& sums)
        : point_(point), sums_(sums), probabilities_(point.biases.size()) {}

    void add(std::span<const float> logits, std::span<const std::int32_t> counts) {
        double rows = 0;
        for (const std::int32_t count : counts)
            rows += count;
        sums_.value += rows * set_probabilities(logits);
        double mean = 0;  // mean of the logits, weighted by their probabilities
        for (std::size_t i = 0; i < logits.size(); ++i)
            mean += probabilities_[i] * static_cast<double>(logits[i]);
        for (std::size_t i = 0; i < logits.size(); ++i)
            add_label(i, static_cast<double>(logits[i]), mean, counts[i], rows);
    }

private:
    /// Returns the logarithm of the sum of exp(scores).
    double set_probabilities(std::span<const float> logits) {
        for (std::size_t i = 0; i < logits.size(); ++i)
            probabilities_[i] = score(i, static_cast<double>(logits[i]));
        const double most = *std::ranges::max_element(probabilities_);
        double sum = 0;
        for (double& probability : probabilities_) {
            probability = std::exp(probability - most);
            sum += probability;
        }
        for (double& probability : probabilities_)
            probability /= sum;
        return most + std::log(sum);
    }
    double score(std::size_t label, double logit) const {
        return point_.slope * logit + point_.biases[label];
    }
    void add_label(std::size_t label, double logit, double mean, double count, double rows) {
        const double expected = rows * probabilities_[label];
        sums_.value -= count * score(label, logit);
        sums_.gradient.slope += (expected - count) * logit;
        sums_.gradient.biases[label] += expected - count;
        sums_.slope_slope += expected * (logit - mean) * (logit - mean);
        sums_.slope_bias[label] += expected * (logit - mean);
        double* const second = sums_.bias_bias.data() + label * probabilities_.size();
        for (std::size_t other = 0; other < label; ++other)
            second[other] -= expected * probabilities_[other];
        second[label] += expected * (1 - probabilities_[label]);
    }

    const CalibrationPoint& point_;
    Sums& sums_;
    std::vector<double> probabilities_;
};

/// A symmetric positive definite matrix as the product of a lower triangle and its transpose.
class Cholesky {
public:
    /// Factors the lower triangle of (size, size).
    Cholesky(std::vector<double> matrix, std::size_t size) : factor_(std::move(matrix)), size_(size) {
        for (std::size_t row = 0; row < size_; ++row) {
            for (std::size_t column = 0; column <= row; ++column) {
                double rest = at(row, column);
                for (std::size_t i = 0; i < column; ++i)
                    rest -= at(row, i) * at(column, i);
                factor_[row * size_ + column] =
                    row == column ? std::sqrt(std::max(rest, tiny)) : rest / at(column, column);
            }
        }
    }
    /// x where matrix * x = right.
    std::vector<double> solved(std::vector<double> right) const {
        for (std::size_t row = 0; row < size_; ++row) {
            for (std::size_t i = 0; i < row; ++i)
                right[row] -= at(row, i) * right[i];
            right[row] /= at(row, row);
        }
        for (std::size_t row = size_; row-- > 0;) {
            for (std::size_t i = row + 1; i < size_; ++i)
                right[row] -= at(i, row) * right[i];
            right[row] /= at(row, row);
        }
        return right;
    }

private:
    double at(std::size_t row, std::size_t column) const { return factor_[row * size_ + column]; }

    std::vector<double> factor_;
    std::size_t size_;
};

/// Eliminating the biases leaves the slope as the one unknown.
CalibrationPoint Sums::newton_step(double slope) const {
    const auto product = [](const std::vector<double>& a, const std::vector<double>& b) {
        return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
    };
    const Cholesky biases(bias_bias, slope_bias.size());
    const std::vector<double> alone = biases.solved(gradient.biases), with = biases.solved(slope_bias);
    CalibrationPoint step{.slope = slope_step(slope, gradient.slope - product(slope_bias, alone),
                                              slope_slope - product(slope_bias, with)),
                          .biases = alone};
    for (std::size_t i = 0; i < alone.size(); ++i)
        step.biases[i] = -alone[i] - with[i] * step.slope;
    return step;
}

class SoftmaxFitter {
public:
    SoftmaxFitter(const CountedRows& rows, int threads, double pull)
        : rows_(rows), threads_(threads), pull_(pull) {}

    Sums at(const CalibrationPoint& point) const {
        Sums sums = cross_entropy(point);
        add_pull(point, sums);
        hold_sum_of_biases(sums);
        return sums;
    }
    double mean(const CalibrationPoint& point) const {
        return cross_entropy(point).value / static_cast<double>(rows_.rows);
    }

private:
    /// Summed by chunks of rows, in their order.
    Sums cross_entropy(const CalibrationPoint& point) const {
        const std::size_t runs = rows_.runs(), chunks = (runs + chunk_rows - 1) / chunk_rows;
        std::vector<Sums> parts(chunks, Sums(rows_.labels));
        parallel_for(static_cast<std::int64_t>(chunks), threads_, [&](std::int64_t i) {
            const auto chunk = static_cast<std::size_t>(i);
            Adder adder(point, parts[chunk]);
            for (std::size_t run = chunk * chunk_rows; run < std::min(runs, (chunk + 1) * chunk_rows); ++run)
                adder.add(rows_.logits_of(run), rows_.counts_of(run));
        });
        Sums sums(rows_.labels);
        for (const Sums& part : parts)
            sums += part;
        return sums;
    }
    void add_pull(const CalibrationPoint& point, Sums& sums) const {
        const double from_one = point.slope - 1;
        const double squares =
            std::inner_product(point.biases.begin(), point.biases.end(), point.biases.begin(), 0.0);
        sums.value += 0.5 * pull_ * (from_one * from_one + squares);
        sums.gradient.slope += pull_ * from_one;
        sums.slope_slope += pull_;
        for (std::size_t i = 0; i < rows_.labels; ++i) {
            sums.gradient.biases[i] += pull_ * point.biases[i];
            sums.bias_bias[i * rows_.labels + i] += pull_;
        }
    }
    /// Adding one number to all biases does not change probabilities, so the gradient has no component in
    /// this direction and a curvature there does not change the steps. But without a curvature, the second
    /// derivatives could not be inverted.
    void hold_sum_of_biases(Sums& sums) const {
        const double curvature =
            static_cast<double>(rows_.rows) / static_cast<double>(rows_.labels * rows_.labels);
        for (double& second : sums.bias_bias)
            second += curvature;
    }

    const CountedRows& rows_;
    int threads_;
    double pull_;
};

bool can_be_fitted(std::span<const float> logits) {
    return !logits.empty() && std::ranges::all_of(
                                  logits, [](float logit) { return std::isfinite(logit); });
}

}  // namespace

std::optional<CalibrationFit> fit_calibration(std::span<const float> logits,
                                              std::span<const std::uint8_t> truth, std::size_t labels,
                                              int threads, double pull) {
    BIGBIRD_EXPECTS(labels > 0 && logits.size() == truth.size() && logits.size() % labels == 0,
                    "a logit and a truth for each row and label");
    if (!can_be_fitted(logits)) return std::nullopt;
    return fit_from(LabelFitter(logits, truth, labels, threads, pull), labels);
}

std::optional<CalibrationFit> fit_softmax_calibration(std::span<const float> logits,
                                                      std::span<const std::int32_t> truth, std::size_t labels,
                                                      int threads, double pull) {
    BIGBIRD_EXPECTS(labels > 0 && logits.size() == truth.size() * labels,
                    "a truth for each row, and a logit for each row and label");
    if (!can_be_fitted(logits)) return std::nullopt;
    const CountedRows rows = counted(logits, truth, labels);
    return fit_from(SoftmaxFitter(rows, threads, pull), labels);
}

}  // namespace bigbird::evaluation
