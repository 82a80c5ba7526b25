// SPDX-License-Identifier: Apache-2.0
// Learnt pooling: places become one by a mean whose weights are a softmax of the values themselves, times a
// number a channel that is learnt. 0 is the mean, a large number the maximum.
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::bins {

/// What the values go through before they are pooled.
enum class BeforePool : std::uint8_t { nothing, gelu };  ///< gelu: the tanh formula

/// x: (batch, length, channels), length a multiple of `pool`; sharpness: (channels). Returns (batch, length /
/// pool, channels): sum of w a over sum of w, where a is x behind `before` and w = exp(sharpness a).
/// Differentiable. On a CPU in float32, by own code that holds nothing but x; the same bits for any number of
/// threads.
at::Tensor softmax_pool(const at::Tensor& x, const at::Tensor& sharpness, std::int64_t pool,
                        BeforePool before);

/// The same by LibTorch's operations: any device and type, readable, slow.
at::Tensor softmax_pool_reference(const at::Tensor& x, const at::Tensor& sharpness, std::int64_t pool,
                                  BeforePool before);

}  // namespace bigbird::bins
