// SPDX-License-Identifier: Apache-2.0
// The search that all calibration fits share: Newton's steps with a line search.
#pragma once

#include "bigbird/evaluation/curves/calibration.hpp"

#include <cstddef>
#include <utility>
#include <vector>

namespace bigbird::evaluation {

inline constexpr double least_slope = 1e-3;

/// The parameters that a calibration fit optimizes, or a step between two sets of them.
struct CalibrationPoint {
    double slope = 1;  ///< 1 / temperature
    std::vector<double> biases;
};

inline CalibrationPoint no_calibration(std::size_t labels) {
    return {.slope = 1, .biases = std::vector<double>(labels, 0.0)};
}

inline CalibrationPoint moved(const CalibrationPoint& from, const CalibrationPoint& step, double part) {
    CalibrationPoint to = from;
    to.slope += part * step.slope;
    for (std::size_t i = 0; i < to.biases.size(); ++i)
        to.biases[i] += part * step.biases[i];
    return to;
}

/// The decrease of the sum per unit of the step, at the step's beginning.
inline double descent(const CalibrationPoint& gradient, const CalibrationPoint& step) {
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

/// The calibration there. `fitter.mean(point)` gives the mean cross entropy.
template <typename Fitter>
CalibrationFit fit_from(const Fitter& fitter, std::size_t labels) {
    const CalibrationPoint found = minimum(fitter, labels);
    return {.calibration = {.temperature = 1 / found.slope, .biases = found.biases},
            .loss_before = fitter.mean(no_calibration(labels)),
            .loss_after = fitter.mean(found)};
}

}  // namespace bigbird::evaluation
