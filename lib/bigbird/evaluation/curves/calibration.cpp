// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/calibration.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/parallel.hpp"

#include <algorithm>
#include <cmath>

namespace bigbird::evaluation {

namespace {

constexpr int most_steps = 100, most_halvings = 30;
constexpr double least_slope = 1e-3;  // 1 / temperature

/// Of one label at a slope and a bias: the cross entropy, its gradient and its second derivatives.
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

struct Place {
    double slope = 1;
    std::vector<double> biases;
};

/// The sum that is minimised, and each label's part of it.
struct Objective {
    double value = 0;
    double by_slope = 0, slope_slope = 0;
    std::vector<Sums> labels;
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

    Objective at(const Place& place) const {
        Objective objective;
        objective.labels.resize(labels_);
        parallel_for(static_cast<std::int64_t>(labels_), threads_, [&](std::int64_t i) {
            const auto label = static_cast<std::size_t>(i);
            objective.labels[label] = of_label(label, place.slope, place.biases[label]);
        });
        const double from_one = place.slope - 1;
        objective.value = 0.5 * pull_ * from_one * from_one;
        objective.by_slope = pull_ * from_one;
        objective.slope_slope = pull_;
        for (const Sums& sums : objective.labels) {
            objective.value += sums.loss;
            objective.by_slope += sums.by_slope;
            objective.slope_slope += sums.slope_slope;
        }
        return objective;
    }
    double mean(const Place& place) const {
        double loss = 0;
        for (std::size_t label = 0; label < labels_; ++label) {
            loss += sums_of(logits_.subspan(label * rows_, rows_), truth_.subspan(label * rows_, rows_),
                            place.slope, place.biases[label])
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

/// Newton's step. Biases meet in the slope alone, so eliminating them leaves one unknown.
Place newton_step(const Objective& at, double slope) {
    constexpr double tiny = 1e-12;  // of a label that is told apart without an error
    Place step{.slope = 0, .biases = std::vector<double>(at.labels.size())};
    double gradient = at.by_slope, curvature = at.slope_slope;
    for (const Sums& label : at.labels) {
        const double share = label.slope_bias / (label.bias_bias + tiny);
        gradient -= share * label.by_bias;
        curvature -= share * label.slope_bias;
    }
    const bool at_the_end = slope <= least_slope && gradient > 0;
    if (!at_the_end) step.slope = std::max(-gradient / std::max(curvature, tiny), least_slope - slope);
    for (std::size_t i = 0; i < at.labels.size(); ++i) {
        const Sums& label = at.labels[i];
        step.biases[i] = -(label.by_bias + label.slope_bias * step.slope) / (label.bias_bias + tiny);
    }
    return step;
}

Place moved(const Place& from, const Place& step, double part) {
    Place to = from;
    to.slope += part * step.slope;
    for (std::size_t i = 0; i < to.biases.size(); ++i)
        to.biases[i] += part * step.biases[i];
    return to;
}

/// How much the sum falls a unit of the step, at its beginning.
double descent(const Objective& at, const Place& step) {
    double sum = -at.by_slope * step.slope;
    for (std::size_t i = 0; i < at.labels.size(); ++i)
        sum -= at.labels[i].by_bias * step.biases[i];
    return sum;
}

Place minimum(const Fitter& fitter, std::size_t labels) {
    Place place{.slope = 1, .biases = std::vector<double>(labels, 0.0)};
    Objective here = fitter.at(place);
    for (int i = 0; i < most_steps; ++i) {
        const Place step = newton_step(here, place.slope);
        const double fall = descent(here, step);
        if (!(fall > 1e-12 * std::max(1.0, here.value))) break;
        double part = 1;
        Place next = moved(place, step, part);
        Objective there = fitter.at(next);
        for (int halving = 0; !(there.value <= here.value - 1e-4 * part * fall) && halving < most_halvings;
             ++halving) {
            part /= 2;
            next = moved(place, step, part);
            there = fitter.at(next);
        }
        if (!(there.value < here.value)) break;
        place = std::move(next);
        here = std::move(there);
    }
    return place;
}

}  // namespace

std::optional<CalibrationFit> fit_calibration(std::span<const float> logits,
                                              std::span<const std::uint8_t> truth, std::size_t labels,
                                              int threads, double pull) {
    BIGBIRD_EXPECTS(labels > 0 && logits.size() == truth.size() && logits.size() % labels == 0,
                    "a logit and a truth for each row and label");
    const bool finite = std::ranges::all_of(logits, [](float logit) { return std::isfinite(logit); });
    if (logits.empty() || !finite) return std::nullopt;
    const Fitter fitter(logits, truth, labels, threads, pull);
    const Place found = minimum(fitter, labels);
    return CalibrationFit{
        .calibration = {.temperature = 1 / found.slope, .biases = found.biases},
        .loss_before = fitter.mean({.slope = 1, .biases = std::vector<double>(labels, 0.0)}),
        .loss_after = fitter.mean(found)};
}

}  // namespace bigbird::evaluation
