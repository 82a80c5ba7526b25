// SPDX-License-Identifier: Apache-2.0
// Helpers of tests that use LibTorch.
#pragma once

#include "bigbird/core/rng.hpp"

#include <ATen/ATen.h>

namespace bigbird::testing {

/// Standard normal numbers, the same on every run.
inline at::Tensor random_tensor(at::IntArrayRef shape, std::uint64_t seed,
                                at::ScalarType type = at::kDouble) {
    at::Tensor values = at::empty(shape, at::kDouble);
    Rng rng(seed);
    for (std::int64_t i = 0; i < values.numel(); ++i)
        values.mutable_data_ptr<double>()[i] = rng.normal();
    return values.to(type);
}

/// The largest absolute difference; infinite where shapes differ or a value is not finite.
inline double difference(const at::Tensor& a, const at::Tensor& b) {
    if (a.sizes() != b.sizes() || !at::isfinite(a).all().item<bool>() || !at::isfinite(b).all().item<bool>())
        return std::numeric_limits<double>::infinity();
    return a.numel() == 0 ? 0.0 : (a.to(at::kDouble) - b.to(at::kDouble)).abs().max().item<double>();
}

/// True where two tensors have the same type, shape and bytes.
inline bool identical(const at::Tensor& a, const at::Tensor& b) {
    return a.scalar_type() == b.scalar_type() && a.sizes() == b.sizes() && at::equal(a, b);
}

}  // namespace bigbird::testing
