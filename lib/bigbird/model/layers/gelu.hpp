// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::model {

/// GELU by tanh, differentiable; own kernels for float and bfloat16 on the CPU. Where no gradient is wanted
/// the result takes the place of a contiguous x, which must be nobody else's.
at::Tensor gelu_tanh(const at::Tensor& x);

}  // namespace bigbird::model
