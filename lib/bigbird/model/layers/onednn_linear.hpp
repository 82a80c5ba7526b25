// SPDX-License-Identifier: Apache-2.0
// Linear layers by oneDNN on a CPU. LibTorch's at::linear uses MKL for float, which leaves a fifth of an AMD
// processor's speed unused (docs/development/measurements.md), and fuses no operations after the product.
#pragma once

#include "bigbird/model/layers/layers.hpp"

#include <ATen/core/Tensor.h>

#include <array>
#include <string>
#include <vector>

namespace bigbird::model {

/// Whether onednn_linear() and the two functions after it accept x: float of at most 1,024 features, or
/// bfloat16 if the processor has instructions for it; on a CPU, without gradients and autocast.
bool has_onednn_linear(const at::Tensor& x);

/// While an object exists, products on this thread are computed as if gradients were needed:
/// has_onednn_linear() is false, and has_onednn_training() may be true. For a pass without gradients that
/// must equal one with gradients bit for bit.
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

/// Two linear layers: weight and gate (inner, in), next (out, inner). Biases, and the gate, may be undefined.
struct FeedForwardWeights {
    at::Tensor weight, bias, gate, gate_bias, next, next_bias;
};
/// Two linear layers with an activation between them, and perhaps a gate, plus other: activation(x weight^T +
/// bias) [* (x gate^T + gate_bias)] next^T + next_bias + other. In float, computes 1,024 inner features at a
/// time, which saves memory and keeps sums as short as has_onednn_linear() requires. In bfloat16, where
/// partial sums would be rounded, computes all at once.
at::Tensor onednn_feed_forward(const at::Tensor& x, const FeedForwardWeights& weights,
                               const std::string& activation, const at::Tensor& other);

/// Whether onednn_trained_linear() accepts x: float, (batch, length, in), not empty, on a CPU, with gradients
/// (or AsWithGradients), without autocast. Tensors of two dimensions are left to LibTorch: they are selected
/// rows, whose number changes from step to step, and oneDNN would generate and cache 50 kB of code for each
/// number.
bool has_onednn_training(const at::Tensor& x);

/// has_onednn_training(), on a processor where it is faster than LibTorch with MKL: with AVX2, and not made
/// by Intel.
bool has_fast_onednn_training(const at::Tensor& x);

/// x W^T + b, differentiable once; W (out, in), b (out) or undefined. Do not modify the result in place.
at::Tensor onednn_trained_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias);

// Three linear layers on one input as one product: for queries, keys and values in training on a GPU. The
// parameters stay the three layers' own; their weights are concatenated each time, which costs no more than
// autocast's casting of them. Forward and backward take one product each instead of three; in the backward
// pass, also instead of two sums. The slow twin is LinearImpl::forward() of each.

/// Returns the layers' results for x (…, in), each (…, out) and a view of the columns of one tensor. The
/// layers have the same shape, and all or none have a bias. Computes in x's type or, under autocast, in
/// autocast's. Differentiable; gradients of the parameters come in their own type. Do not modify the results
/// in place.
std::array<at::Tensor, 3> packed_linear(const at::Tensor& x, const std::array<const LinearImpl*, 3>& layers);

/// Returns the tensor (rows, parts * columns) whose columns are `parts` (…, columns), without a copy, where
/// memory has that order; else undefined.
at::Tensor side_by_side(const std::vector<at::Tensor>& parts);

}  // namespace bigbird::model
