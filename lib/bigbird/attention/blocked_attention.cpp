// SPDX-License-Identifier: Apache-2.0
// Appendix D of the paper: key blocks are gathered for each query block, so that everything is a batched
// product of small dense matrices and no length x length matrix ever exists. Global query rows are a few
// dense rows, global key blocks one product for all rows.
#include "bigbird/attention/backends.hpp"

#include <ATen/ATen.h>

#include <cmath>

namespace bigbird::attention {

namespace {

/// Sizes, in the order in which shapes name them.
struct Sizes {
    std::int64_t batch, heads, blocks, block, head_dim, rows, common, width;
};

Sizes sizes_of(const at::Tensor& q, const LayerLayout& layout) {
    return {q.size(0),
            q.size(1),
            layout.blocks,
            layout.block_size,
            q.size(3),
            layout.sparse_rows.size(0),
            layout.common_columns.size(0),
            layout.own_columns.size(2)};
}

/// (batch, heads, blocks, block * head_dim) -> the own key blocks of every sparse row, (batch, heads, rows,
/// width * block, head_dim).
at::Tensor gather_own(const at::Tensor& blocks, const LayerLayout& layout, const Sizes& n) {
    const at::Tensor head = at::arange(n.heads, layout.own_columns.options()).view({n.heads, 1, 1});
    const at::Tensor flat = (layout.own_columns + head * n.blocks).flatten();
    return blocks.reshape({n.batch, n.heads * n.blocks, n.block * n.head_dim})
        .index_select(1, flat)
        .view({n.batch, n.heads, n.rows, n.width * n.block, n.head_dim});
}

/// The bias of every score of the sparse rows: (batch, heads, rows, 1, (common + width) * block).
at::Tensor sparse_bias(const at::Tensor& padding, const LayerLayout& layout, const Sizes& n) {
    const at::Tensor by_block = padding.view({n.batch, n.blocks, n.block});
    const at::Tensor common =
        by_block.index_select(1, layout.common_columns).view({n.batch, 1, 1, n.common, n.block}) +
        layout.common_bias.to(padding.scalar_type()).unsqueeze(-1);
    const at::Tensor own = by_block.index_select(1, layout.own_columns.flatten())
                               .view({n.batch, n.heads, n.rows, n.width, n.block}) +
                           layout.own_bias.to(padding.scalar_type()).unsqueeze(-1);
    return at::cat({common, own}, 3).view({n.batch, n.heads, n.rows, 1, (n.common + n.width) * n.block});
}

/// (batch, heads, rows, block, head_dim), the context of the sparse rows.
at::Tensor sparse_rows(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                       const at::Tensor& padding, const LayerLayout& layout) {
    const Sizes n = sizes_of(q, layout);
    const auto in_blocks = [&](const at::Tensor& x) {
        return x.reshape({n.batch, n.heads, n.blocks, n.block, n.head_dim});
    };
    const at::Tensor rows =
        in_blocks(q).index_select(2, layout.sparse_rows);  // (batch, heads, rows, block, head_dim)
    const auto common_of = [&](const at::Tensor& x) {
        return in_blocks(x)
            .index_select(2, layout.common_columns)
            .view({n.batch, n.heads, n.common * n.block, n.head_dim});
    };
    const at::Tensor flat_rows = rows.view({n.batch, n.heads, n.rows * n.block, n.head_dim});
    const at::Tensor common_scores =
        at::matmul(flat_rows, common_of(k).transpose(2, 3)).view({n.batch, n.heads, n.rows, n.block, -1});
    const at::Tensor own_scores = at::matmul(rows, gather_own(k, layout, n).transpose(3, 4));
    const at::Tensor probabilities =
        at::softmax(at::cat({common_scores, own_scores}, 4) + sparse_bias(padding, layout, n), -1);
    const at::Tensor to_common = probabilities.narrow(4, 0, n.common * n.block);
    const at::Tensor to_own = probabilities.narrow(4, n.common * n.block, n.width * n.block);
    const at::Tensor from_common =
        at::matmul(to_common.reshape({n.batch, n.heads, n.rows * n.block, -1}), common_of(v));
    return at::matmul(to_own, gather_own(v, layout, n)) +
           from_common.view({n.batch, n.heads, n.rows, n.block, n.head_dim});
}

/// (batch, heads, dense, block, head_dim), the context of the rows that attend everything.
at::Tensor dense_rows(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                      const at::Tensor& padding, const LayerLayout& layout) {
    const Sizes n = sizes_of(q, layout);
    const std::int64_t dense = layout.dense_rows.size(0);
    const at::Tensor rows =
        q.reshape({n.batch, n.heads, n.blocks, n.block, n.head_dim}).index_select(2, layout.dense_rows);
    const at::Tensor flat = rows.view({n.batch, n.heads, dense * n.block, n.head_dim});
    const at::Tensor probabilities =
        at::softmax(at::matmul(flat, k.transpose(2, 3)) + padding.unsqueeze(1).unsqueeze(1), -1);
    return at::matmul(probabilities, v).view({n.batch, n.heads, dense, n.block, n.head_dim});
}

}  // namespace

at::Tensor blocked_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v,
                             const at::Tensor& key_mask, const LayerLayout& layout) {
    const at::Tensor padding = key_padding_bias(key_mask, q.scalar_type());
    const at::Tensor scaled = q * (1.0 / std::sqrt(static_cast<double>(q.size(3))));
    const at::Tensor sparse = sparse_rows(scaled, k, v, padding, layout);
    const at::Tensor dense = dense_rows(scaled, k, v, padding, layout);
    const at::Tensor context = at::cat({sparse, dense}, 2).index_select(2, layout.order).view_as(q);
    return context * key_mask.to(q.scalar_type()).unsqueeze(1).unsqueeze(3);
}

}  // namespace bigbird::attention
