// SPDX-License-Identifier: Apache-2.0
// Attention backward in two passes without atomics, so the same bytes every time: query_gradient.hpp and
// key_gradient.hpp. Here is what goes before and after them.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"

namespace bigbird::attention::cuda {

/// delta = sum over a row of out * d_out, 0 behind a tile's end. Thread block of samples * heads * tiles.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void delta_kernel(const Isa& isa, const Arguments& a) {
    constexpr int lanes = HeadDim / 8;  // to a row, 16 bytes each
    const int tile = isa.block() % a.tiling.tiles, group = isa.block() / a.tiling.tiles;
    const int sample = group / a.heads, head = group % a.heads;
    const int first = first_token_of(a.tiling, tile), count = count_tokens(a.tiling, tile);
    const HeadRows out = rows_of(a.out, sample, head), d_out = rows_of(a.d_out, sample, head);
    const int column = isa.thread() % lanes * 8;
    for (int row = isa.thread() / lanes; row < tile_tokens; row += threads_per_block / lanes) {
        float sum = 0;
        if (row < count) {
            sum = isa.template dot8<Scalar>(out.row(first + row) + column, d_out.row(first + row) + column);
        }
        BIGBIRD_UNROLL
        for (int mask = 1; mask < lanes; mask *= 2) {
            sum += isa.shuffle_xor(sum, mask);
        }
        if (column == 0) {
            a.delta[row_place(a, sample, head, tile) + row] = sum;
        }
    }
}

/// Adds the parts of cut lists in their order: dq (sides 1) or dk and dv (sides 2). Thread block of samples *
/// sum_count * sides * SumGrid::blocks.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void add_parts_kernel(const Isa& isa, const Arguments& a, const UnitList& list, int sides) {
    const SumGrid<HeadDim> at(isa);
    const int side = at.item % sides, item = at.item / sides, sample = item / list.sum_count;
    const Sum sum = list.sums[item % list.sum_count];
    if (at.row >= count_tokens(a.tiling, sum.tile)) {
        return;
    }
    const std::int64_t slot = static_cast<std::int64_t>(sample) * list.slots + sum.first;
    const std::int64_t base = sides == 1 ? 0 : static_cast<std::int64_t>(a.samples) * a.queries.slots;
    const float* parts =
        a.workspace + (base + sides * slot + side) * tile_tokens * HeadDim + at.row * HeadDim + at.column;
    float total[8] = {};
    for (int part = 0; part < sum.count; ++part) {
        float of_part[8];
        isa.load_floats8(parts + static_cast<std::int64_t>(part) * sides * tile_tokens * HeadDim, of_part);
        BIGBIRD_UNROLL
        for (int j = 0; j < 8; ++j) {
            total[j] += of_part[j];
        }
    }
    const TensorView& view = sides == 1 ? a.dq : side == 0 ? a.dk : a.dv;
    const int token = first_token_of(a.tiling, sum.tile) + at.row;
    isa.template store8<Scalar>(rows_of(view, sample, sum.head).row(token) + at.column, total);
}

}  // namespace bigbird::attention::cuda
