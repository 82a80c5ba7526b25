// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::model {

/// GELU by tanh, differentiable; own kernels for float and bfloat16 on the CPU. Without gradients the result
/// overwrites a contiguous x, which nobody else may use.
at::Tensor gelu_tanh(const at::Tensor& x);

}  // namespace bigbird::model
