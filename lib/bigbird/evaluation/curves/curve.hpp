// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::evaluation {

/// Figures if scores of at least `threshold` count as positive.
struct CurvePoint {
    double threshold = 0, recall = 0, false_positive_rate = 0, precision = 0;
};

/// The points of the ROC and precision-recall curves, by descending threshold, one per distinct score. If
/// there are more than `most`, an evenly spaced selection that includes the last. Empty without positives or
/// without negatives.
std::vector<CurvePoint> curve_of(std::span<const float> scores, std::span<const std::uint8_t> labels,
                                 std::size_t most = 400);

}  // namespace bigbird::evaluation
