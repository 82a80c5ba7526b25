// SPDX-License-Identifier: Apache-2.0
// What the attention passes launch, in which order and on which grids. GPUs and their emulation share this
// code. A `Launcher` has launch<Kernel>(blocks, shared_bytes, parameters); a Kernel has its Parameters,
// `threads` per block, `resident` blocks per multiprocessor that the registers must suffice for, and run(isa,
// parameters).
#pragma once

#include "bigbird/attention/cuda/device/forward.hpp"
#include "bigbird/attention/cuda/device/key_gradient.hpp"
#include "bigbird/attention/cuda/device/query_gradient.hpp"
#include "bigbird/attention/cuda/device/tiles.hpp"

namespace bigbird::attention::cuda {

// Attention backward in two passes without atomics, so that results repeat bit for bit: query_gradient.hpp
// and key_gradient.hpp. This file has the kernels before and after them.

/// delta = sum over a row of out * d_out, 0 after a tile's end. Grid: samples * heads * tiles thread blocks.
template <int HeadDim, typename Scalar>
struct DeltaKernel : KernelShape<Arguments> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        constexpr int lanes = HeadDim / 8;  // lanes per row, 16 bytes each
        const int tile = isa.block() % a.tiling.tiles, group = isa.block() / a.tiling.tiles;
        const int sample = group / a.heads, head = group % a.heads;
        const int first = first_token_of(a.tiling, tile), count = count_tokens(a.tiling, tile);
        const HeadRows out = rows_of(a.out, sample, head), d_out = rows_of(a.d_out, sample, head);
        const int column = isa.thread() % lanes * 8;
        for (int row = isa.thread() / lanes; row < tile_tokens; row += threads_per_block / lanes) {
            float sum = 0;
            if (row < count)
                sum =
                    isa.template dot8<Scalar>(out.row(first + row) + column, d_out.row(first + row) + column);
            BIGBIRD_UNROLL
            for (int mask = 1; mask < lanes; mask *= 2)
                sum += isa.shuffle_xor(sum, mask);
            if (column == 0) a.delta[row_place(a, sample, head, tile) + row] = sum;
        }
    }
};

/// Adds the parts of divided lists in their order: dq (Sides 1) or dk and dv (Sides 2). Grid: samples *
/// sum_count * Sides * SumGrid::blocks thread blocks.
template <int HeadDim, typename Scalar, int Sides>
struct AddPartsKernel : KernelShape<Arguments> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        const UnitList& list = Sides == 1 ? a.queries : a.keys;
        const SumGrid<HeadDim> at(isa);
        const int side = at.item % Sides, item = at.item / Sides, sample = item / list.sum_count;
        const Sum sum = list.sums[item % list.sum_count];
        if (at.row >= count_tokens(a.tiling, sum.tile)) return;
        const std::int64_t slot = static_cast<std::int64_t>(sample) * list.slots + sum.first;
        const std::int64_t first_slot =
            Sides == 1 ? 0 : static_cast<std::int64_t>(a.samples) * a.queries.slots;
        const float* parts = a.workspace + (first_slot + Sides * slot + side) * tile_tokens * HeadDim +
                             at.row * HeadDim + at.column;
        float total[8] = {};
        for (int part = 0; part < sum.count; ++part) {
            float of_part[8];
            isa.load_floats8(parts + static_cast<std::int64_t>(part) * Sides * tile_tokens * HeadDim,
                             of_part);
            BIGBIRD_UNROLL
            for (int j = 0; j < 8; ++j)
                total[j] += of_part[j];
        }
        const TensorView& view = Sides == 1 ? a.dq : side == 0 ? a.dk : a.dv;
        const int token = first_token_of(a.tiling, sum.tile) + at.row;
        isa.template store8<Scalar>(rows_of(view, sample, sum.head).row(token) + at.column, total);
    }
};

/// The units of the forward pass, and of the gradients, on GPUs of compute capability 8.0 and up.
template <int HeadDim, typename Scalar, typename Launcher>
void launch_forward_units(Launcher& launcher, const Arguments& a) {
    launcher.template launch<ForwardKernel<HeadDim, Scalar>>(a.samples * a.queries.unit_count,
                                                             ForwardShared<HeadDim>::bytes, a);
}
template <int HeadDim, typename Scalar, typename Launcher>
void launch_gradient_units(Launcher& launcher, const Arguments& a) {
    if (a.gradients != Gradients::of_keys) {
        launcher.template launch<QueryGradientKernel<HeadDim, Scalar>>(
            a.samples * a.queries.unit_count, QueryGradientShared<HeadDim>::bytes, a);
    }
    if (a.gradients != Gradients::of_queries) {
        launcher.template launch<KeyGradientKernel<HeadDim, Scalar>>(a.samples * a.keys.unit_count,
                                                                     KeyGradientShared<HeadDim>::bytes, a);
    }
}

/// The launches after the units and, backward, before them, for any kernels.
template <int HeadDim, typename Scalar, typename Launcher>
void launch_forward_sums(Launcher& launcher, const Arguments& a) {
    launcher.template launch<CombineKernel<HeadDim, Scalar>>(
        a.samples * a.queries.sum_count * SumGrid<HeadDim>::blocks, 0, a);
}
template <int HeadDim, typename Scalar, typename Launcher>
void launch_deltas(Launcher& launcher, const Arguments& a) {
    launcher.template launch<DeltaKernel<HeadDim, Scalar>>(a.samples * a.heads * a.tiling.tiles, 0, a);
}
template <int HeadDim, typename Scalar, typename Launcher>
void launch_gradient_sums(Launcher& launcher, const Arguments& a) {
    constexpr int blocks = SumGrid<HeadDim>::blocks;
    if (a.gradients != Gradients::of_keys) {
        launcher.template launch<AddPartsKernel<HeadDim, Scalar, 1>>(a.samples * a.queries.sum_count * blocks,
                                                                     0, a);
    }
    if (a.gradients != Gradients::of_queries) {
        launcher.template launch<AddPartsKernel<HeadDim, Scalar, 2>>(
            a.samples * a.keys.sum_count * 2 * blocks, 0, a);
    }
}

}  // namespace bigbird::attention::cuda
