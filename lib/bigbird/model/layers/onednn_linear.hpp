// SPDX-License-Identifier: Apache-2.0
// Linear layers by oneDNN on a CPU. LibTorch's at::linear takes MKL for float, which
// leaves a fifth of an AMD processor unused (docs/development/measurements.md), and it fuses nothing behind
// the product.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace bigbird::model {

/// Whether onednn_linear() and the two functions behind it take x (float of at most 1,024 features, or
/// bfloat16 where the processor has instructions for it; on a CPU; no gradient wanted, no autocast).
bool has_onednn_linear(const at::Tensor& x);

/// While it lives, products on this thread are computed as where gradients are wanted: has_onednn_linear() is
/// false, and has_onednn_training() may be true. For a pass without gradients that must equal, bit for bit,
/// one with gradients.
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

/// Whether onednn_trained_linear() takes x: float, (batch, length, in), not empty, on a CPU, gradients wanted
/// (or AsWithGradients), no autocast. Two dimensions are left to LibTorch: rows picked out, whose number
/// changes from step to step, for each of which oneDNN would make and keep 50 kB of code.
bool has_onednn_training(const at::Tensor& x);

/// That, on a processor where it is faster than LibTorch's way by MKL: with AVX2, and not Intel's.
bool has_fast_onednn_training(const at::Tensor& x);

/// x W^T + b, differentiable once; W (out, in), b (out) or undefined. Do not modify the result in place.
at::Tensor onednn_trained_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

}  // namespace bigbird::model
