// SPDX-License-Identifier: Apache-2.0
// Ridge regression in closed form, for any number of targets and penalties at once.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bigbird::baselines {

/// score = features * weight + bias.
struct LinearScores {
    at::Tensor weight;  // (labels, features) float64
    at::Tensor bias;    // (labels) float64
};

/// Gathers rows and solves. Features are standardized by their mean and deviation over the rows; constant
/// features get weight 0.
class Ridge {
public:
    Ridge(std::int64_t features, std::int64_t targets);

    /// rows: (n, features), targets: (n, targets), any floating type.
    void add(const at::Tensor& rows, const at::Tensor& targets);
    /// Minimizes sum (target - score)^2 + penalty * n * |weight of the standardized features|^2. Expects rows
    /// and penalty > 0.
    LinearScores solve(double penalty) const;

private:
    struct Solved {
        at::Tensor mean, deviation, target_mean, values, vectors, projected;
    };
    const Solved& decompose() const;

    double rows_ = 0;
    at::Tensor sum_, target_sum_, gram_, cross_;  // float64
    mutable Solved solved_;
    mutable double solved_rows_ = -1;
};

}  // namespace bigbird::baselines
