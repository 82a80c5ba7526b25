// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bigbird::bins {

/// (batch, length, in) -> (batch, length, out), 0 beyond the ends. weight: (out, in, width), width odd, its
/// taps `dilation` apart; bias: (out).
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       std::int64_t dilation = 1);

}  // namespace bigbird::bins
