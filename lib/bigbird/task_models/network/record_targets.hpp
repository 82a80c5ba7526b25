// SPDX-License-Identifier: Apache-2.0
// Further meanings of a model's logits, besides independent labels: mutually exclusive classes, numbers, or
// coverage.
#pragma once

#include "bigbird/task_models/network/target.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <memory>
#include <vector>

namespace bigbird::task_models {

/// Classes: -ln p of the softmax, with a weight for each class. `smoothing`: share of the target probability
/// that is spread evenly over all classes, in [0, 1). Figures: "eval_auroc" (of the second of two classes,
/// else the mean over the classes), "eval_accuracy" and "eval_mcc" (a row is assigned its most probable
/// class).
std::unique_ptr<Target> classes_target(const std::vector<double>& weights, double smoothing,
                                       const at::Device& device);
/// Numbers, which the caller has standardized: (logit - target)^2. Figures: "eval_loss", "eval_pearson" and
/// "eval_r2", means over the numbers; "eval_auroc" is null.
std::unique_ptr<Target> numbers_target();
/// Counts, not standardized: exp(logit) - target * logit, the Poisson distribution's -ln p up to a constant.
/// The same figures.
std::unique_ptr<Target> counts_target();
/// Coverage of bins, each track divided by its mean over train, with r = ln(1 + exp(logit)) and targets y.
/// poisson: r - y ln r. log_squared: (ln(1 + r) - ln(1 + y))^2. poisson_multinomial (Avsec and others 2021,
/// BPNet; Linder and others 2023, Borzoi), per window and track with the sums R and Y over its counted bins:
/// -sum y ln(r / R), the shape, and 0.2 (R - Y ln R), the total. The same figures.
std::unique_ptr<Target> coverage_target(CoverageLoss loss);

/// Matthews' correlation coefficient of several classes (Gorodkin 2004): calls and truth, (rows) int64.
/// Undefined if all rows have, or are assigned, the same class.
std::optional<double> classes_mcc(const at::Tensor& called, const at::Tensor& truth, std::int64_t classes);

}  // namespace bigbird::task_models
