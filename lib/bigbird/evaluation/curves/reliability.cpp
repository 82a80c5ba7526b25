// SPDX-License-Identifier: Apache-2.0
#include "bigbird/evaluation/curves/reliability.hpp"

#include <cmath>

namespace bigbird::evaluation {

namespace {

std::size_t tenth_of(double score) {
    std::size_t tenth = 0;
    while (tenth < 9 && score > static_cast<double>(tenth + 1) / 10)
        ++tenth;
    return tenth;
}

}  // namespace

void ReliabilityCounter::add(std::span<const float> scores, std::span<const std::uint8_t> labels) {
    for (std::size_t i = 0; i < scores.size(); ++i) {
        const double score = static_cast<double>(scores[i]), label = labels[i] != 0 ? 1 : 0;
        if (!(score >= 0 && score <= 1)) {
            are_probabilities_ = false;
            return;
        }
        Sums& sums = sums_[tenth_of(score)];
        ++sums.rows;
        sums.positives += labels[i] != 0 ? 1 : 0;
        sums.scores += score;
        squares_ += (score - label) * (score - label);
    }
}

std::optional<Reliability> ReliabilityCounter::reliability() const {
    Reliability result;
    double rows = 0;
    for (const Sums& sums : sums_) {
        if (sums.rows == 0) continue;
        const auto count = static_cast<double>(sums.rows);
        const ReliabilityBin bin{sums.rows, sums.scores / count, static_cast<double>(sums.positives) / count};
        result.calibration_error += count * std::abs(bin.mean_score - bin.positive_share);
        result.bins.push_back(bin);
        rows += count;
    }
    if (rows == 0 || !are_probabilities_) return std::nullopt;
    result.calibration_error /= rows;
    result.brier = squares_ / rows;
    return result;
}

}  // namespace bigbird::evaluation
