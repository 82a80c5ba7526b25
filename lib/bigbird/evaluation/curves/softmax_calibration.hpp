// SPDX-License-Identifier: Apache-2.0
// Calibration of mutually exclusive labels, such as those of a base.
#pragma once

#include "bigbird/evaluation/curves/calibration.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bigbird::evaluation {

/// The temperature and the biases that minimize the mean cross entropy over rows of the probabilities
/// softmax(logits / temperature + biases): vector scaling with one temperature (Guo et al. 2017). `logits` is
/// row-major; `truth` has the label of each row. A penalty of `pull` times half the square of (1 /
/// temperature - 1) and of each bias is added to the sum. It keeps the bias of a label without rows finite.
/// The biases sum to 0, up to rounding. The result does not depend on the number of threads. Returns nullopt
/// without rows, or if a logit is not finite.
std::optional<CalibrationFit> fit_softmax_calibration(std::span<const float> logits,
                                                      std::span<const std::int32_t> truth, std::size_t labels,
                                                      int threads, double pull = 0.1);

}  // namespace bigbird::evaluation
