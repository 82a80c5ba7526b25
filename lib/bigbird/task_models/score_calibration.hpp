// SPDX-License-Identifier: Apache-2.0
// Fitting calibration.json on validation, and making probabilities by it.
#pragma once

#include "bigbird/task_models/files/calibration_file.hpp"

#include <ATen/core/Tensor.h>

#include <optional>

namespace bigbird::task_models {

/// Of (rows, labels) logits, float32 on the CPU, and truth, 0 and 1 of any type there. Nothing without rows,
/// and where a logit is not finite.
std::optional<FittedCalibration> fit_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                   int threads);
/// Of (bases, labels) logits, float32 on the CPU, and the label of each base, integers there. Nothing as
/// above.
std::optional<FittedCalibration> fit_softmax_on_validation(const at::Tensor& logits, const at::Tensor& truth,
                                                           int threads);

/// Makes logits probabilities. Immutable; thread-safe.
class ScoreCalibration {
public:
    /// The logistic function alone.
    ScoreCalibration() = default;
    /// The link function alone.
    explicit ScoreCalibration(LinkFunction link) : link_(link) {}
    ScoreCalibration(const evaluation::Calibration& calibration, const at::Device& device,
                     LinkFunction link = LinkFunction::logistic);

    /// (…, labels) logits on any device -> probabilities of the same type there.
    at::Tensor probabilities(const at::Tensor& logits) const;

private:
    LinkFunction link_ = LinkFunction::logistic;
    double temperature_ = 1;
    at::Tensor biases_;  // (labels) float64 on the model's device; undefined: none
};

}  // namespace bigbird::task_models
