// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/score/bin_effects.hpp"

#include "bigbird/task_models/score/edited_windows.hpp"

#include <cmath>

namespace bigbird::task_models {

namespace {

struct Sums {
    double ref = 0, alt = 0, difference = 0, additive = 0;  ///< sums over the bins
    double squares = 0, additive_squares = 0;               ///< sums of squared differences
};

AlleleEffect rounded(double ref, double alt, double difference, double log_odds) {
    return {static_cast<float>(ref), static_cast<float>(alt), static_cast<float>(difference),
            static_cast<float>(log_odds)};
}

}  // namespace

AlleleEffect effect_over(std::span<const double> ref, std::span<const double> alt, BinScorer scorer,
                         LinkFunction link) {
    const auto count = static_cast<double>(ref.size());
    std::size_t largest = 0;
    double largest_effect = 0;
    Sums sums;
    for (std::size_t i = 0; i < ref.size(); ++i) {
        const double difference = alt[i] - ref[i], effect = additive(alt[i], link) - additive(ref[i], link);
        if (i == 0 || std::abs(effect) > std::abs(largest_effect)) {
            largest = i;
            largest_effect = effect;
        }
        sums.ref += ref[i];
        sums.alt += alt[i];
        sums.difference += difference;
        sums.additive += effect;
        sums.squares += difference * difference;
        sums.additive_squares += effect * effect;
    }
    switch (scorer) {
        case BinScorer::mean:
            return rounded(sums.ref / count, sums.alt / count, sums.difference / count,
                           sums.additive / count);
        case BinScorer::l2:
            return rounded(sums.ref / count, sums.alt / count, std::sqrt(sums.squares),
                           std::sqrt(sums.additive_squares));
        case BinScorer::sum:
            return rounded(sums.ref, sums.alt, sums.difference,
                           gives_probabilities(link) ? sums.additive
                                                     : additive(sums.alt, link) - additive(sums.ref, link));
        case BinScorer::centre:
        case BinScorer::max:
            break;
    }
    return rounded(ref[largest], alt[largest], alt[largest] - ref[largest], largest_effect);
}

}  // namespace bigbird::task_models
