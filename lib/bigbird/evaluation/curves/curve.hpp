// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::evaluation {

/// Figures where scores from `threshold` on count as positive.
struct CurvePoint {
    double threshold = 0, recall = 0, false_positive_rate = 0, precision = 0;
};

/// The points of the ROC and precision-recall curves, thresholds descending, one a distinct score; of more
/// than `most` an even choice that holds the last. Empty without positives or without negatives.
std::vector<CurvePoint> curve_of(std::span<const float> scores, std::span<const std::uint8_t> labels,
                                 std::size_t most = 400);

}  // namespace bigbird::evaluation
