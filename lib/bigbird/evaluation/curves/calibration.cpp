// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/calibration.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <utility>

namespace bigbird::evaluation {

namespace {

// The search that both fits share: Newton's steps with a line search.

constexpr double least_slope = 1e-3;
constexpr double tiny = 1e-12;  // smallest curvature, for labels that are separated without errors

/// The parameters that a fit optimizes, or a step between two sets of them: 1 / temperature, which is the
/// slope, then the biases.
using Point = std::vector<double>;

Point no_calibration(std::size_t labels) {
    Point point(labels + 1, 0.0);
    point[0] = 1;
    return point;
}

Point moved(Point point, const Point& step, double part) {
    for (std::size_t i = 0; i < point.size(); ++i)
        point[i] += part * step[i];
    return point;
}

double product(const std::vector<double>& a, const std::vector<double>& b) {
    return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

/// Newton's step of the slope, which stays at least_slope or above.
double slope_step(double slope, double by_slope, double curvature) {
    const bool at_the_end = slope <= least_slope && by_slope > 0;
    return at_the_end ? 0 : std::max(-by_slope / std::max(curvature, tiny), least_slope - slope);
}

/// The calibration with the minimal sum, searched from the identity on. `fitter.at(point)` gives an objective
/// with the sum, `value`, its `gradient` there, and `newton_step(slope)`; `fitter.mean(point)` the mean cross
/// entropy.
template <typename Fitter>
CalibrationFit fit_from(const Fitter& fitter, std::size_t labels) {
    constexpr int most_steps = 100, most_halvings = 30;
    Point point = no_calibration(labels);
    auto here = fitter.at(point);
    for (int i = 0; i < most_steps; ++i) {
        const Point step = here.newton_step(point[0]);
        const double fall = -product(here.gradient, step);  // per unit of the step, at its beginning
        if (!(fall > 1e-12 * (here.value > 1 ? here.value : 1))) break;
        double part = 1;
        Point next = moved(point, step, part);
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
    return {.calibration = {.temperature = 1 / point[0], .biases = {point.begin() + 1, point.end()}},
            .loss_before = fitter.mean(no_calibration(labels)),
            .loss_after = fitter.mean(point)};
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
    Point gradient;
    std::vector<LabelSums> labels;

    /// Biases interact only through the slope, so eliminating them leaves one unknown.
    Point newton_step(double slope) const {
        double by_slope = gradient[0], curvature = slope_slope;
        for (const LabelSums& label : labels) {
            const double share = label.slope_bias / (label.bias_bias + tiny);
            by_slope -= share * label.by_bias;
            curvature -= share * label.slope_bias;
        }
        Point step{slope_step(slope, by_slope, curvature)};
        for (const LabelSums& label : labels)
            step.push_back(-(label.by_bias + label.slope_bias * step[0]) / (label.bias_bias + tiny));
        return step;
    }
};

/// `logits` and `truth`: of label 0, then of label 1, and so on.
struct LabelFitter {
    std::span<const float> logits;
    std::span<const std::uint8_t> truth;
    std::size_t labels;
    int threads;
    double pull;

    LabelObjective at(const Point& point) const {
        const double from_one = point[0] - 1;
        LabelObjective objective{.value = 0.5 * pull * from_one * from_one,
                                 .slope_slope = pull,
                                 .gradient = {pull * from_one},
                                 .labels = sums(point)};
        for (std::size_t label = 0; label < labels; ++label) {
            LabelSums& own = objective.labels[label];
            const double bias = point[label + 1];
            own.loss += 0.5 * pull * bias * bias;
            own.by_bias += pull * bias;
            own.bias_bias += pull;
            objective.value += own.loss;
            objective.gradient[0] += own.by_slope;
            objective.gradient.push_back(own.by_bias);
            objective.slope_slope += own.slope_slope;
        }
        return objective;
    }
    double mean(const Point& point) const {
        double loss = 0;
        for (const LabelSums& label : sums(point))
            loss += label.loss;
        return loss / static_cast<double>(logits.size());
    }

private:
    std::vector<LabelSums> sums(const Point& point) const {
        const std::size_t rows = logits.size() / labels;
        std::vector<LabelSums> all(labels);
        parallel_for(static_cast<std::int64_t>(labels), threads, [&](std::int64_t i) {
            const auto label = static_cast<std::size_t>(i);
            all[label] = sums_of(logits.subspan(label * rows, rows), truth.subspan(label * rows, rows),
                                 point[0], point[label + 1]);
        });
        return all;
    }
};

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

/// The lower triangle whose product with its transpose is a symmetric positive definite matrix, of which the
/// lower triangle of (size, size) is given.
std::vector<double> cholesky(std::vector<double> matrix, std::size_t size) {
    for (std::size_t row = 0; row < size; ++row) {
        for (std::size_t column = 0; column <= row; ++column) {
            double rest = matrix[row * size + column];
            for (std::size_t i = 0; i < column; ++i)
                rest -= matrix[row * size + i] * matrix[column * size + i];
            matrix[row * size + column] =
                row == column ? std::sqrt(std::max(rest, tiny)) : rest / matrix[column * size + column];
        }
    }
    return matrix;
}

/// x where matrix * x = right; `factor`: cholesky(matrix).
std::vector<double> solved(const std::vector<double>& factor, std::vector<double> right) {
    const std::size_t size = right.size();
    for (std::size_t row = 0; row < size; ++row) {
        for (std::size_t i = 0; i < row; ++i)
            right[row] -= factor[row * size + i] * right[i];
        right[row] /= factor[row * size + row];
    }
    for (std::size_t row = size; row-- > 0;) {
        for (std::size_t i = row + 1; i < size; ++i)
            right[row] -= factor[i * size + row] * right[i];
        right[row] /= factor[row * size + row];
    }
    return right;
}

/// The cross entropy over some rows, its gradient and its second derivatives.
struct Sums {
    explicit Sums(std::size_t labels) : gradient(labels + 1), slope(labels + 1), biases(labels * labels) {}

    double value = 0;
    Point gradient;
    std::vector<double> slope, biases;  // by the slope and each parameter; the lower triangle by two biases

    void operator+=(const Sums& other) {
        value += other.value;
        std::ranges::transform(gradient, other.gradient, gradient.begin(), std::plus());
        std::ranges::transform(slope, other.slope, slope.begin(), std::plus());
        std::ranges::transform(biases, other.biases, biases.begin(), std::plus());
    }
    /// Eliminating the biases leaves the slope as the one unknown.
    Point newton_step(double from) const {
        const std::vector<double> factor = cholesky(biases, gradient.size() - 1),
                                  both(slope.begin() + 1, slope.end()),
                                  alone = solved(factor, {gradient.begin() + 1, gradient.end()}),
                                  with = solved(factor, both);
        Point step{slope_step(from, gradient[0] - product(both, alone), slope[0] - product(both, with))};
        for (std::size_t i = 0; i < alone.size(); ++i)
            step.push_back(-alone[i] - with[i] * step[0]);
        return step;
    }
    /// Adds a run of rows. `share`: room for the probability of each label.
    void add(const Point& point, std::span<const float> logits, std::span<const std::int32_t> counts,
             std::vector<double>& share) {
        const auto logit = [&](std::size_t i) { return static_cast<double>(logits[i]); };
        const auto score = [&](std::size_t i) { return point[0] * logit(i) + point[i + 1]; };
        const double rows = std::accumulate(counts.begin(), counts.end(), 0.0);
        for (std::size_t i = 0; i < share.size(); ++i)
            share[i] = score(i);
        const double most = *std::ranges::max_element(share);
        double sum = 0, mean = 0;  // mean of the logits, weighted by their probabilities
        for (double& one : share) {
            one = std::exp(one - most);
            sum += one;
        }
        for (std::size_t i = 0; i < share.size(); ++i) {
            share[i] /= sum;
            mean += share[i] * logit(i);
        }
        value += rows * (most + std::log(sum));
        for (std::size_t i = 0; i < share.size(); ++i) {
            const double expected = rows * share[i], surplus = expected - counts[i];
            value -= counts[i] * score(i);
            gradient[0] += surplus * logit(i);
            gradient[i + 1] += surplus;
            slope[0] += expected * (logit(i) - mean) * (logit(i) - mean);
            slope[i + 1] += expected * (logit(i) - mean);
            double* const second = biases.data() + i * share.size();
            for (std::size_t other = 0; other < i; ++other)
                second[other] -= expected * share[other];
            second[i] += expected * (1 - share[i]);
        }
    }
};

struct SoftmaxFitter {
    const CountedRows& rows;
    int threads;
    double pull;

    Sums at(const Point& point) const {
        Sums sums = cross_entropy(point);
        const double from_one = point[0] - 1;
        const double squares = std::inner_product(point.begin() + 1, point.end(), point.begin() + 1, 0.0);
        sums.value += 0.5 * pull * (from_one * from_one + squares);
        sums.gradient[0] += pull * from_one;
        sums.slope[0] += pull;
        for (std::size_t i = 0; i < rows.labels; ++i) {
            sums.gradient[i + 1] += pull * point[i + 1];
            sums.biases[i * rows.labels + i] += pull;
        }
        // Adding one number to all biases does not change probabilities, so the gradient has no component in
        // this direction and a curvature there does not change the steps. But without a curvature, the second
        // derivatives could not be inverted.
        const double curvature =
            static_cast<double>(rows.rows) / static_cast<double>(rows.labels * rows.labels);
        for (double& second : sums.biases)
            second += curvature;
        return sums;
    }
    double mean(const Point& point) const {
        return cross_entropy(point).value / static_cast<double>(rows.rows);
    }

private:
    /// Summed by chunks of rows, in their order.
    Sums cross_entropy(const Point& point) const {
        const std::size_t runs = rows.runs(), chunks = (runs + chunk_rows - 1) / chunk_rows;
        std::vector<Sums> parts(chunks, Sums(rows.labels));
        parallel_for(static_cast<std::int64_t>(chunks), threads, [&](std::int64_t i) {
            const auto chunk = static_cast<std::size_t>(i);
            std::vector<double> share(rows.labels);
            for (std::size_t run = chunk * chunk_rows; run < std::min(runs, (chunk + 1) * chunk_rows); ++run)
                parts[chunk].add(point, rows.logits_of(run), rows.counts_of(run), share);
        });
        Sums sums(rows.labels);
        for (const Sums& part : parts)
            sums += part;
        return sums;
    }
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
    return fit_from(LabelFitter{logits, truth, labels, threads, pull}, labels);
}

std::optional<CalibrationFit> fit_softmax_calibration(std::span<const float> logits,
                                                      std::span<const std::int32_t> truth, std::size_t labels,
                                                      int threads, double pull) {
    BIGBIRD_EXPECTS(labels > 0 && logits.size() == truth.size() * labels,
                    "a truth for each row, and a logit for each row and label");
    if (!can_be_fitted(logits)) return std::nullopt;
    const CountedRows rows = counted(logits, truth, labels);
    return fit_from(SoftmaxFitter{rows, threads, pull}, labels);
}

}  // namespace bigbird::evaluation
