// SPDX-License-Identifier: Apache-2.0
// The backends behind sparse_attention(), which has checked the shapes; same contract.
#pragma once

#include "bigbird/attention/attention.hpp"

namespace bigbird::attention {

/// Added to the score of a padded key, as in transformers: finite, so that a row of nothing but padding gives
/// no NaN.
inline constexpr double padding_bias = -1e4;

at::Tensor reference_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& key_mask, const LayerLayout& layout,
                               const at::Tensor& probability_mask);

/// Sparse layouts alone.
at::Tensor blocked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& key_mask, const LayerLayout& layout);

/// Full layouts alone: LibTorch's scaled_dot_product_attention.
at::Tensor full_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& key_mask, const at::Tensor& probability_mask);

/// (batch, length): 0 where real, padding_bias where padded.
at::Tensor key_padding_bias(const at::Tensor& key_mask, at::ScalarType type);

}  // namespace bigbird::attention
