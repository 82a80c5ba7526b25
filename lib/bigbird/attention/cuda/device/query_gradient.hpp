// SPDX-License-Identifier: Apache-2.0
// dq: goes through the forward pass's units again, with probabilities recomputed from the log-sums.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"

namespace bigbird::attention::cuda {

template <int HeadDim>
struct QueryGradientShared {
    static constexpr int bytes = 8 * SharedTile<HeadDim>::bytes;
    std::byte* memory;
    BIGBIRD_DEVICE SharedTile<HeadDim> queries(int side) const { return tile(side); }
    BIGBIRD_DEVICE SharedTile<HeadDim> d_out(int side) const { return tile(2 + side); }
    BIGBIRD_DEVICE SharedTile<HeadDim> keys(int stage) const { return tile(4 + 2 * stage); }
    BIGBIRD_DEVICE SharedTile<HeadDim> values(int stage) const { return tile(5 + 2 * stage); }

private:
    BIGBIRD_DEVICE SharedTile<HeadDim> tile(int i) const { return {memory + i * SharedTile<HeadDim>::bytes}; }
};

/// A warp's operands and values of its 32 queries: rows g and g + 8 of two stacks.
template <int HeadDim>
struct QueryOperands {
    Fragment q[2][steps<HeadDim>], d_out[2][steps<HeadDim>];
    float lse[2][2], delta[2][2];
};

/// Gradients of the scores of 32 queries with 16 keys, unscaled, as a first operand.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void score_gradients(const Isa& isa, const Tiling& tiling, const TileBias& bias, int row,
                                    int key, const QueryOperands<HeadDim>& operands,
                                    const SharedTile<HeadDim>& keys, const SharedTile<HeadDim>& values,
                                    Fragment (&result)[2]) {
    Accumulator scores[2][2], d_weights[2][2];
    BIGBIRD_UNROLL
    for (int step = 0; step < HeadDim / 16; ++step) {
        const Fragment of_keys = second_operand(isa, keys, key, step);
        const Fragment of_values = second_operand(isa, values, key, step);
        BIGBIRD_UNROLL
        for (int i = 0; i < 4; ++i) {
            const int stack = i / 2, n = i % 2;
            isa.template multiply<Scalar>(scores[stack][n], operands.q[stack][step], of_keys.x[2 * n],
                                          of_keys.x[2 * n + 1]);
            isa.template multiply<Scalar>(d_weights[stack][n], operands.d_out[stack][step],
                                          of_values.x[2 * n], of_values.x[2 * n + 1]);
        }
    }
    constexpr float factor = scale_of<HeadDim>() * log2_e;
    if (!bias.is_plain) {
        BIGBIRD_UNROLL
        for (int j = 0; j < 16; ++j) {
            const int stack = j / 8, n = j / 4 % 2, i = j % 4;
            const int query = row + 16 * stack + isa.lane() / 4 + 8 * (i / 2);
            const int of_tile = key + 8 * n + 2 * (isa.lane() % 4) + i % 2;
            scores[stack][n].x[i] += bias.of(tiling, query, of_tile) / factor;
        }
    }
    BIGBIRD_UNROLL
    for (int stack = 0; stack < 2; ++stack) {
        BIGBIRD_UNROLL
        for (int j = 0; j < 8; ++j) {
            const int n = j / 4, i = j % 4, half = i / 2;
            const float weight =
                isa.exp2(scores[stack][n].x[i] * factor + (bias.shared() - operands.lse[stack][half]));
            d_weights[stack][n].x[i] = weight * (d_weights[stack][n].x[i] - operands.delta[stack][half]);
        }
        result[stack] = as_operand<Scalar>(isa, d_weights[stack][0], d_weights[stack][1]);
    }
}

/// One step of a warp: a key tile in shared memory against its 32 queries.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void query_gradient_step(const Isa& isa, const Tiling& tiling, const TileBias& bias, int row,
                                        const QueryOperands<HeadDim>& operands,
                                        const SharedTile<HeadDim>& keys, const SharedTile<HeadDim>& values,
                                        Accumulator (&dq)[2][stacked<HeadDim>]) {
    BIGBIRD_UNROLL
    for (int key = 0; key < tile_tokens; key += 16) {
        Fragment d_scores[2];
        score_gradients<HeadDim, Scalar>(isa, tiling, bias, row, key, operands, keys, values, d_scores);
        BIGBIRD_UNROLL
        for (int pair = 0; pair < HeadDim / 16; ++pair) {
            const Fragment b = second_operand_transposed(isa, keys, key, pair);
            BIGBIRD_UNROLL
            for (int i = 0; i < 4; ++i) {
                isa.template multiply<Scalar>(dq[i / 2][2 * pair + i % 2], d_scores[i / 2], b.x[2 * (i % 2)],
                                              b.x[2 * (i % 2) + 1]);
            }
        }
    }
}

template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE void load_operands(const Isa& isa, const Arguments& a,
                                  const QueryGradientShared<HeadDim>& shared, std::int64_t sums, int side,
                                  int row, QueryOperands<HeadDim>& operands) {
    load_rows<HeadDim>(isa, shared.queries(side), row, operands.q);
    load_rows<HeadDim>(isa, shared.d_out(side), row, operands.d_out);
    BIGBIRD_UNROLL
    for (int i = 0; i < 4; ++i) {
        const std::int64_t place = sums + row + 16 * (i / 2) + isa.lane() / 4 + 8 * (i % 2);
        operands.lse[i / 2][i % 2] = a.lse[place];
        operands.delta[i / 2][i % 2] = a.delta[place];
    }
}

/// Writes dq of 16 of a warp's rows, or their part.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void store_query_gradients(const Isa& isa, const Arguments& a, const Unit& unit, int sample,
                                          int side, int row, const SharedTile<HeadDim>& through,
                                          Accumulator (&dq)[stacked<HeadDim>]) {
    const int tile = of_side(unit.tile, side);
    scale_rows<HeadDim>(dq, scale_of<HeadDim>());
    if (of_side(unit.slot, side) >= 0) {
        const std::int64_t slot =
            static_cast<std::int64_t>(sample) * a.queries.slots + of_side(unit.slot, side);
        store_part<HeadDim>(isa, a.workspace + slot * tile_tokens * HeadDim, row, dq);
    } else {
        store_rows<HeadDim, Scalar>(isa, through, row, dq, rows_of(a.dq, sample, unit.head),
                                    first_token_of(a.tiling, tile), count_tokens(a.tiling, tile));
    }
}

/// Computes dq. Grid: samples * queries.unit_count thread blocks.
template <int HeadDim, typename Scalar>
struct QueryGradientKernel : KernelShape<Arguments, threads_per_block, 2> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        const QueryGradientShared<HeadDim> shared{isa.shared()};
        const int sample = isa.block() / a.queries.unit_count;
        const Unit unit = a.queries.units[isa.block() % a.queries.unit_count];
        const int warp = isa.thread() / warp_lanes, side = warp / 2, row = warp % 2 * 32;
        for (int i = 0; i < 2; ++i) {
            const TokenRange range = tokens_of_side(a, unit, i);
            load_tile<HeadDim>(isa, shared.queries(i), rows_of(a.q, sample, unit.head), range.first,
                               range.count);
            load_tile<HeadDim>(isa, shared.d_out(i), rows_of(a.d_out, sample, unit.head), range.first,
                               range.count);
        }
        QueryOperands<HeadDim> operands;
        Accumulator dq[2][stacked<HeadDim>];
        walk_keys<HeadDim>(
            isa, a, shared, unit, sample, side,
            [&] {
                const int tile = of_side(unit.tile, side) < 0 ? 0 : of_side(unit.tile, side);
                load_operands<HeadDim>(isa, a, shared, row_place(a, sample, unit.head, tile), side, row,
                                       operands);
            },
            [&](const TileBias& bias, const SharedTile<HeadDim>& keys, const SharedTile<HeadDim>& values) {
                query_gradient_step<HeadDim, Scalar>(isa, a.tiling, bias, row, operands, keys, values, dq);
            });
        if (of_side(unit.tile, side) >= 0) {
            BIGBIRD_UNROLL
            for (int stack = 0; stack < 2; ++stack) {
                store_query_gradients<HeadDim, Scalar>(isa, a, unit, sample, side, row + 16 * stack,
                                                       shared.queries(side), dq[stack]);
            }
        }
    }
};

}  // namespace bigbird::attention::cuda
