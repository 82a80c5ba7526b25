// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/backends.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <optional>

namespace bigbird::attention {

at::Tensor full_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                          const at::Tensor& key_mask, const at::Tensor& probability_mask) {
    const at::Tensor bias =
        key_padding_bias(key_mask, q.scalar_type()).unsqueeze(1).unsqueeze(1);  // (batch, 1, 1, length)
    if (!probability_mask.defined()) {
        return at::scaled_dot_product_attention(q, k, v, bias);
    }
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
    const at::Tensor probabilities = at::softmax(at::matmul(q * scale, k.transpose(2, 3)) + bias, -1);
    return at::matmul(probabilities * probability_mask, v);
}

}  // namespace bigbird::attention
