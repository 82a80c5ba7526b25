// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace bigbird::evaluation {

/// How the threshold of a score is found: given, or the one with the best figure on rows of validation;
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
/// The score from which on counting as positive gives the best F1 or MCC; of several the highest. Nothing
/// where the figure is undefined at every score. O(n log n).
std::optional<ChosenThreshold> best_threshold(std::span<const float> scores,
                                              std::span<const std::uint8_t> labels, ThresholdRule::Kind kind);

}  // namespace bigbird::evaluation
