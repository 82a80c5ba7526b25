// SPDX-License-Identifier: Apache-2.0
// Logistic regression on dense features, as scikit-learn's LogisticRegression.
#pragma once

#include "bigbird/baselines/window/ridge.hpp"

#include <ATen/core/Tensor.h>

namespace bigbird::baselines {

/// Minimizes cost * (sum of the cross-entropies) + |weights|^2 / 2 by L-BFGS; biases are not penalized.
/// `targets`: (rows) int64 classes of one softmax, or (rows, labels) of 0 and 1, a sigmoid each. features:
/// (rows, features), any floating type. `labels`: number of outputs. `start`: where to begin; null: 0. Throws
/// Stopped.
LinearScores fit_logistic(const at::Tensor& features, const at::Tensor& targets, std::int64_t labels,
                          double cost, const LinearScores* start = nullptr);

/// Mean cross-entropy of scores (rows, labels) for such targets.
double logistic_loss(const at::Tensor& scores, const at::Tensor& targets);

}  // namespace bigbird::baselines
