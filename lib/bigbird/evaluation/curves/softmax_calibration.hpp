// SPDX-License-Identifier: Apache-2.0
// Calibration of labels that exclude each other, such as those of a base.
#pragma once

#include "bigbird/evaluation/curves/calibration.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace bigbird::evaluation {

/// The temperature and the biases whose probabilities, softmax(logits / temperature + biases) of each row,
/// have the least cross entropy over these rows: vector scaling with one temperature (Guo et al. 2017).
/// `logits` holds row after row, `truth` the label of each row. The mean is over rows. `pull` times half the
/// square of (1 / temperature - 1) and of each bias is added to the sum: it holds the bias of a label that no
/// row has. The biases sum to 0, up to rounding. The same for any number of threads. Nothing without rows,
/// and where a logit is not finite.
std::optional<CalibrationFit> fit_softmax_calibration(std::span<const float> logits,
                                                      std::span<const std::int32_t> truth, std::size_t labels,
                                                      int threads, double pull = 0.1);

}  // namespace bigbird::evaluation
