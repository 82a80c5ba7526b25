// SPDX-License-Identifier: Apache-2.0
// The stages of the stem after the first, before pooling.
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::bins {

struct LaterStage {
    at::Tensor norm, norm_bias;  ///< (in), LayerNorm's
    double epsilon = 0;
    at::Tensor weight, bias;  ///< (out, in, width), (out)
};

/// n + convolution(gelu(n)), n the LayerNorm of x; without "n +" where channels change. (batch, length, in)
/// -> (batch, length, out); gelu by the tanh formula. Differentiable. On a CPU, float32 filters of width 5
/// with channels in full vectors use our own kernels (cpu/stem_kernels.hpp). These keep only x for the
/// backward pass and give the same bits for any number of windows and threads.
at::Tensor later_stage(const at::Tensor& x, const LaterStage& stage);

/// The same by LibTorch's operations: any device, type and shape, readable, slow.
at::Tensor later_stage_reference(const at::Tensor& x, const LaterStage& stage);

}  // namespace bigbird::bins
