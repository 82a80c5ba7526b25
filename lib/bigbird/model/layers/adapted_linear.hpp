// SPDX-License-Identifier: Apache-2.0
// Linear layers with an adapter.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>

namespace bigbird::model {

/// What an adapter adds to x W^T + b: scale drop(x) A^T B^T. A (rank, in), B (out, rank).
struct Adapter {
    at::Tensor a, b;
    double scale = 1;
    /// Drops some of x; always the same, and its own slope. Empty: nothing is dropped.
    std::function<at::Tensor(const at::Tensor&)> drop = {};
};

/// Whether adapted_linear() accepts x: float, not empty, on a CPU, with gradients, without autocast.
bool has_adapted_linear(const at::Tensor& x);

/// x W^T + b with an adapter. W and b are frozen.
at::Tensor plain_adapted_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                const Adapter& adapter);
/// The same as one step of autograd, differentiable once, which keeps only x and drop(x) A^T. Do not modify
/// the result in place.
at::Tensor adapted_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          const Adapter& adapter);

}  // namespace bigbird::model
