// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/backends.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace bigbird::attention {

namespace {

/// (block, block): what a column of a layout adds to scores.
at::Tensor entry_bias(const BlockLayout& layout, std::size_t entry, std::int64_t block) {
    const at::Tensor bias = at::full({block, block}, std::log(layout.multiplicity[entry]), at::kDouble);
    if (layout.mask.empty() || layout.mask[entry] < 0) {
        return bias;
    }
    const ElementMask& mask = layout.masks[static_cast<std::size_t>(layout.mask[entry])];
    const at::Tensor attended = at::tensor(at::ArrayRef<std::uint8_t>(mask), at::kByte).view({block, block});
    return bias.masked_fill_(attended == 0, masked_bias);
}

/// (heads, length, length): ln multiplicity of the key's block for the query's block, masked_bias where it is
/// not attended.
at::Tensor dense_bias(const LayerLayout& layout, const at::TensorOptions& options) {
    const std::int64_t block = layout.block_size, length = layout.blocks * block;
    at::Tensor bias = at::full({layout.heads, length, length}, masked_bias, at::kDouble);
    for (int head = 0; head < layout.heads; ++head) {
        const BlockLayout& of_head = (*layout.layouts)[static_cast<std::size_t>(head)];
        for (int row = 0; row < layout.blocks; ++row) {
            const auto begin = static_cast<std::size_t>(of_head.row_offsets[static_cast<std::size_t>(row)]);
            const auto end = static_cast<std::size_t>(of_head.row_offsets[static_cast<std::size_t>(row) + 1]);
            for (std::size_t i = begin; i < end; ++i) {
                bias[head]
                    .narrow(0, row * block, block)
                    .narrow(1, of_head.columns[i] * block, block)
                    .copy_(entry_bias(of_head, i, block));
            }
        }
    }
    return bias.to(options);
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
