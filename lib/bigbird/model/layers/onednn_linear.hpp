// SPDX-License-Identifier: Apache-2.0
// Linear layers by oneDNN on a CPU, without gradients. LibTorch's at::linear takes MKL for float, which
// leaves a fifth of an AMD processor unused (docs/development/measurements.md), and it fuses nothing behind
// the product.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace bigbird::model {

/// Whether the functions below take x (float of at most 1,024 features, or bfloat16 where the processor has
/// instructions for it; on a CPU; no gradient wanted, no autocast).
bool has_onednn_linear(const at::Tensor& x);

/// While it lives, has_onednn_linear() is false on this thread: for a pass without gradients that must equal,
/// bit for bit, one with gradients.
class AsWithGradients {
public:
    AsWithGradients();
    ~AsWithGradients();
    AsWithGradients(const AsWithGradients&) = delete;
    AsWithGradients& operator=(const AsWithGradients&) = delete;

private:
    bool before_;
};

/// activation(x W^T + b) in one pass; W (out, in), b (out) or undefined. `activation`: gelu, gelu_new,
/// gelu_pytorch_tanh, relu, silu, swish, or empty for none.
at::Tensor onednn_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         const std::string& activation = {});

/// x W^T + b + other in one pass; other has the result's shape.
at::Tensor onednn_linear_add(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             const at::Tensor& other);

/// Two linear layers with an activation between them, and other behind: activation(x W^T + b) V^T + c +
/// other; W (inner, in), V (out, inner). 1,024 inner features at a time, so that no more are held and no sum
/// in float is longer than has_onednn_linear() allows; in bfloat16, where parts of sums would be rounded, all
/// at once.
at::Tensor onednn_feed_forward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                               const std::string& activation, const at::Tensor& next_weight,
                               const at::Tensor& next_bias, const at::Tensor& other);

}  // namespace bigbird::model
