// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/ridge.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>

#include <limits>
#include <tuple>

namespace bigbird::baselines {

Ridge::Ridge(std::int64_t features, std::int64_t targets)
    : sum_(at::zeros({features}, at::kDouble)),
      target_sum_(at::zeros({targets}, at::kDouble)),
      gram_(at::zeros({features, features}, at::kDouble)),
      cross_(at::zeros({features, targets}, at::kDouble)) {}

void Ridge::add(const at::Tensor& rows, const at::Tensor& targets) {
    const at::Tensor x = rows.to(at::kDouble), y = targets.to(at::kDouble);
    rows_ += static_cast<double>(x.size(0));
    sum_ += x.sum(0);
    target_sum_ += y.sum(0);
    gram_.addmm_(x.t(), x);
    cross_.addmm_(x.t(), y);
}

/// The standardized features' correlations as vectors * values * vectors'.
const Ridge::Solved& Ridge::decompose() const {
    BIGBIRD_EXPECTS(rows_ > 0, "ridge regression without rows");
    if (solved_rows_ != rows_) {
        solved_.mean = sum_ / rows_;
        solved_.target_mean = target_sum_ / rows_;
        const at::Tensor covariance = gram_ / rows_ - at::outer(solved_.mean, solved_.mean);
        const at::Tensor deviation = covariance.diagonal().clamp_min(0).sqrt();
        // A feature that varies only by rounding counts as constant.
        const at::Tensor varies = deviation.gt(solved_.mean.abs() * 1e-7).logical_and(deviation.gt(0));
        solved_.deviation =
            at::where(varies, deviation, at::full_like(deviation, std::numeric_limits<double>::infinity()));
        const at::Tensor scale = solved_.deviation.reciprocal();
        const at::Tensor correlation = covariance * at::outer(scale, scale);
        const at::Tensor cross =
            (cross_ / rows_ - at::outer(solved_.mean, solved_.target_mean)) * scale.unsqueeze(1);
        std::tie(solved_.values, solved_.vectors) = at::linalg_eigh(correlation);
        solved_.projected = solved_.vectors.t().matmul(cross);  // (features, targets)
        solved_rows_ = rows_;
    }
    return solved_;
}

LinearScores Ridge::solve(double penalty) const {
    BIGBIRD_EXPECTS(penalty > 0, "ridge regression needs a penalty above 0");
    const Solved& by = decompose();
    const at::Tensor shrunk = by.projected / (by.values.clamp_min(0) + penalty).unsqueeze(1);
    const at::Tensor standardised = by.vectors.matmul(shrunk);  // (features, targets)
    const at::Tensor weight =
        (standardised / by.deviation.unsqueeze(1)).t().contiguous();  // (targets, features)
    return {weight, by.target_mean - weight.matmul(by.mean)};
}

}  // namespace bigbird::baselines
