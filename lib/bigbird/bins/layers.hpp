// SPDX-License-Identifier: Apache-2.0
// Convolution and learned pooling of (batch, length, channels).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bigbird::bins {

/// (batch, length, in) -> (batch, length, out), 0 beyond the ends. weight: (out, in, width), width odd, its
/// taps `dilation` apart; bias: (out).
at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       std::int64_t dilation = 1);

// Learned pooling: adjacent positions become their weighted mean. The weights are a softmax of the values
// times a learned number per channel, the sharpness: 0 gives the mean, a large number the maximum.

/// x: (batch, length, channels), length a multiple of `pool`; sharpness: (channels). Returns (batch, length /
/// pool, channels): sum of w x over sum of w, where w = exp(sharpness x).
/// Differentiable. On a CPU, float32 uses our own kernels, which keep only x for the backward pass and give
/// the same bits for any number of threads.
at::Tensor softmax_pool(const at::Tensor& x, const at::Tensor& sharpness, std::int64_t pool);

/// The same by LibTorch's operations: any device and type, readable, slow.
at::Tensor softmax_pool_reference(const at::Tensor& x, const at::Tensor& sharpness, std::int64_t pool);

}  // namespace bigbird::bins
