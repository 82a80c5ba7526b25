// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/backends.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace bigbird::attention {

namespace {

/// (heads, length, length): ln multiplicity of the key's block for the query's block, masked_bias where it is
/// not attended.
at::Tensor dense_bias(const LayerLayout& layout, const at::TensorOptions& options) {
    at::Tensor blocks = at::full({layout.heads, layout.blocks, layout.blocks}, masked_bias, at::kDouble);
    auto bias = blocks.accessor<double, 3>();
    for (int head = 0; head < layout.heads; ++head) {
        const BlockLayout& of_head = layout.layouts[static_cast<std::size_t>(head)];
        for (int row = 0; row < layout.blocks; ++row) {
            const auto begin = static_cast<std::size_t>(of_head.row_offsets[static_cast<std::size_t>(row)]);
            const auto end = static_cast<std::size_t>(of_head.row_offsets[static_cast<std::size_t>(row) + 1]);
            for (std::size_t i = begin; i < end; ++i) {
                bias[head][row][of_head.columns[i]] = std::log(of_head.multiplicity[i]);
            }
        }
    }
    return blocks.repeat_interleave(layout.block_size, 1).repeat_interleave(layout.block_size, 2).to(options);
}

}  // namespace

at::Tensor reference_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                               const at::Tensor& key_mask, const LayerLayout& layout,
                               const at::Tensor& probability_mask) {
    const double scale = 1.0 / std::sqrt(static_cast<double>(q.size(3)));
    at::Tensor scores = at::matmul(q, k.transpose(2, 3)) * scale;  // (batch, heads, length, length)
    scores = scores + dense_bias(layout, q.options()) +
             key_padding_bias(key_mask, q.scalar_type()).unsqueeze(1).unsqueeze(1);
    at::Tensor probabilities = at::softmax(scores, -1);
    if (probability_mask.defined()) {
        probabilities = probabilities * probability_mask;
    }
    const at::Tensor context = at::matmul(probabilities, v);  // (batch, heads, length, head_dim)
    return layout.full ? context : context * key_mask.to(q.scalar_type()).unsqueeze(1).unsqueeze(3);
}

}  // namespace bigbird::attention
