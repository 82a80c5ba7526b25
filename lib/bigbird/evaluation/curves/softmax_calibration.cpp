// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/softmax_calibration.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/evaluation/curves/calibration_search.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

namespace bigbird::evaluation {

namespace {

constexpr double tiny = 1e-12;  // smallest curvature, for labels that are separated without errors
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

double product(const std::vector<double>& a, const std::vector<double>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i)
        sum += a[i] * b[i];
    return sum;
}

/// The sum that is minimized, at a point.
struct Objective : Sums {
    using Sums::Sums;

    /// Eliminating the biases leaves the slope as the one unknown.
    CalibrationPoint newton_step(double slope) const {
        const Cholesky biases(bias_bias, slope_bias.size());
        const std::vector<double> alone = biases.solved(gradient.biases), with = biases.solved(slope_bias);
        const double by_slope = gradient.slope - product(slope_bias, alone),
                     curvature = slope_slope - product(slope_bias, with);
        CalibrationPoint step{.slope = 0, .biases = alone};
        const bool at_the_end = slope <= least_slope && by_slope > 0;
        if (!at_the_end) step.slope = std::max(-by_slope / std::max(curvature, tiny), least_slope - slope);
        for (std::size_t i = 0; i < alone.size(); ++i)
            step.biases[i] = -alone[i] - with[i] * step.slope;
        return step;
    }
};

class Fitter {
public:
    Fitter(const CountedRows& rows, int threads, double pull) : rows_(rows), threads_(threads), pull_(pull) {}

    Objective at(const CalibrationPoint& point) const {
        Objective objective(rows_.labels);
        static_cast<Sums&>(objective) += cross_entropy(point);
        add_pull(point, objective);
        hold_sum_of_biases(objective);
        return objective;
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
        sums.value += 0.5 * pull_ * (from_one * from_one + product(point.biases, point.biases));
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

}  // namespace

std::optional<CalibrationFit> fit_softmax_calibration(std::span<const float> logits,
                                                      std::span<const std::int32_t> truth, std::size_t labels,
                                                      int threads, double pull) {
    BIGBIRD_EXPECTS(labels > 0 && logits.size() == truth.size() * labels,
                    "a truth for each row, and a logit for each row and label");
    const bool finite = std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
    if (logits.empty() || !finite) return std::nullopt;
    const CountedRows rows = counted(logits, truth, labels);
    return fit_from(Fitter(rows, threads, pull), labels);
}

}  // namespace bigbird::evaluation
