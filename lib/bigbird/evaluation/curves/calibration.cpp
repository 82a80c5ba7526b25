// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/calibration.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/evaluation/curves/calibration_search.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::evaluation {

namespace {

/// One label at a slope and a bias: the cross entropy, its gradient and its second derivatives.
struct Sums {
    double loss = 0;
    double by_slope = 0, by_bias = 0;
    double slope_slope = 0, slope_bias = 0, bias_bias = 0;
};

Sums sums_of(std::span<const float> logits, std::span<const std::uint8_t> truth, double slope, double bias) {
    Sums sums;
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
struct Objective {
    double value = 0, slope_slope = 0;
    CalibrationPoint gradient;
    std::vector<Sums> labels;

    CalibrationPoint newton_step(double slope) const;
};

class Fitter {
public:
    Fitter(std::span<const float> logits, std::span<const std::uint8_t> truth, std::size_t labels,
           int threads, double pull)
        : logits_(logits),
          truth_(truth),
          labels_(labels),
          rows_(logits.size() / labels),
          threads_(threads),
          pull_(pull) {}

    Objective at(const CalibrationPoint& point) const {
        Objective objective;
        objective.labels.resize(labels_);
        parallel_for(static_cast<std::int64_t>(labels_), threads_, [&](std::int64_t i) {
            const auto label = static_cast<std::size_t>(i);
            objective.labels[label] = of_label(label, point.slope, point.biases[label]);
        });
        const double from_one = point.slope - 1;
        objective.value = 0.5 * pull_ * from_one * from_one;
        objective.gradient.slope = pull_ * from_one;
        objective.slope_slope = pull_;
        for (const Sums& sums : objective.labels) {
            objective.value += sums.loss;
            objective.gradient.slope += sums.by_slope;
            objective.gradient.biases.push_back(sums.by_bias);
            objective.slope_slope += sums.slope_slope;
        }
        return objective;
    }
    double mean(const CalibrationPoint& point) const {
        double loss = 0;
        for (std::size_t label = 0; label < labels_; ++label) {
            loss += sums_of(logits_.subspan(label * rows_, rows_), truth_.subspan(label * rows_, rows_),
                            point.slope, point.biases[label])
                        .loss;
        }
        return loss / static_cast<double>(labels_ * rows_);
    }

private:
    Sums of_label(std::size_t label, double slope, double bias) const {
        Sums sums =
            sums_of(logits_.subspan(label * rows_, rows_), truth_.subspan(label * rows_, rows_), slope, bias);
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
CalibrationPoint Objective::newton_step(double slope) const {
    constexpr double tiny = 1e-12;  // smallest curvature, for a label that is separated without errors
    CalibrationPoint step{.slope = 0, .biases = std::vector<double>(labels.size())};
    double by_slope = gradient.slope, curvature = slope_slope;
    for (const Sums& label : labels) {
        const double share = label.slope_bias / (label.bias_bias + tiny);
        by_slope -= share * label.by_bias;
        curvature -= share * label.slope_bias;
    }
    const bool at_the_end = slope <= least_slope && by_slope > 0;
    if (!at_the_end) step.slope = std::max(-by_slope / std::max(curvature, tiny), least_slope - slope);
    for (std::size_t i = 0; i < labels.size(); ++i) {
        const Sums& label = labels[i];
        step.biases[i] = -(label.by_bias + label.slope_bias * step.slope) / (label.bias_bias + tiny);
    }
    return step;
}

}  // namespace

std::optional<CalibrationFit> fit_calibration(std::span<const float> logits,
                                              std::span<const std::uint8_t> truth, std::size_t labels,
                                              int threads, double pull) {
    BIGBIRD_EXPECTS(labels > 0 && logits.size() == truth.size() && logits.size() % labels == 0,
                    "a logit and a truth for each row and label");
    const bool finite = std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
    if (logits.empty() || !finite) return std::nullopt;
    return fit_from(Fitter(logits, truth, labels, threads, pull), labels);
}

}  // namespace bigbird::evaluation
