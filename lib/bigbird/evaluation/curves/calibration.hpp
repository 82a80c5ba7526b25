// SPDX-License-Identifier: Apache-2.0
// Turns a model's logits into probabilities: a temperature and biases fitted on rows outside training.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::evaluation {

/// For independent labels, the probability of label l is 1 / (1 + exp(-(logit / temperature + biases[l]))),
/// and the order of a label's rows does not change. For mutually exclusive labels see
/// fit_softmax_calibration().
struct Calibration {
    double temperature = 1;
    std::vector<double> biases;  ///< one per label

    bool operator==(const Calibration&) const = default;
};

struct CalibrationFit {
    Calibration calibration;
    double loss_before = 0, loss_after = 0;  ///< mean cross entropy in nats
};

/// The temperature (one for all labels) and the biases that minimize the mean cross entropy over rows and
/// labels (Platt 1999; Guo et al. 2017). `logits` and `truth` (0 or 1) have all rows of label 0, then all
/// rows of label 1, and so on. A penalty of `pull` times half the square of (1 / temperature - 1) and of each
/// bias is added to the sum. It keeps the bias of a label without positives finite. The result does not
/// depend on the number of threads. Returns nullopt without rows, or if a logit is not finite.
std::optional<CalibrationFit> fit_calibration(std::span<const float> logits,
                                              std::span<const std::uint8_t> truth, std::size_t labels,
                                              int threads, double pull = 0.1);

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
