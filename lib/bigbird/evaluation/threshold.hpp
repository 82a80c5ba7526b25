// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bigbird::evaluation {

/// How the threshold of a score is chosen: given, or the one with the best figure on validation rows;
/// `automatic`: the best F1 where rows of validation are scored, else `value`.
struct ThresholdRule {
    enum class Kind : std::uint8_t { automatic, given, best_f1, best_mcc };
    Kind kind = Kind::automatic;
    double value = 0.5;
};
/// A number, "auto", "f1" or "mcc". Throws ConfigError.
ThresholdRule parse_threshold_rule(const std::string& text);

struct ChosenThreshold {
    double threshold = 0;  ///< one of the scores
    double figure = 0;     ///< F1 or MCC there
};
/// The threshold with the best F1 or MCC (the highest of several), if scores from it on count as positive.
/// Returns nullopt if the figure is undefined at every score. O(n log n).
std::optional<ChosenThreshold> best_threshold(std::span<const float> scores,
                                              std::span<const std::uint8_t> labels, ThresholdRule::Kind kind);

}  // namespace bigbird::evaluation
