// SPDX-License-Identifier: Apache-2.0
// Attention forward: a thread block takes a unit, two query tiles, through the union of their key tiles. Two
// warps serve each query tile, 32 rows per warp; a warp leaves out tiles that its own does not attend.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"

namespace bigbird::attention::cuda {

/// The online softmax of a warp's queries: stacks of 16 rows.
template <int HeadDim, int Stacks>
struct ForwardState {
    Accumulator out[static_cast<std::size_t>(Stacks)][stacked<HeadDim>];
    float highest[static_cast<std::size_t>(Stacks)][2],
        total[static_cast<std::size_t>(Stacks)][2];  // rows g and g + 8; totals are this lane's share
};

template <int HeadDim, int Stacks>
BIGBIRD_DEVICE void begin_softmax(ForwardState<HeadDim, Stacks>& state) {
    BIGBIRD_UNROLL
    for (int i = 0; i < 2 * Stacks; ++i) {
        state.highest[i / 2][i % 2] = -INFINITY;
        state.total[i / 2][i % 2] = 0;
    }
}

template <int HeadDim>
struct ForwardShared {
    static constexpr int stages = 2;
    static constexpr int bytes = (2 + 2 * stages) * SharedTile<HeadDim>::bytes;
    std::byte* memory;
    BIGBIRD_DEVICE SharedTile<HeadDim> queries(int side) const { return tile(side); }
    BIGBIRD_DEVICE SharedTile<HeadDim> keys(int stage) const { return tile(2 + 2 * stage); }
    BIGBIRD_DEVICE SharedTile<HeadDim> values(int stage) const { return tile(3 + 2 * stage); }

private:
    BIGBIRD_DEVICE SharedTile<HeadDim> tile(int i) const { return {memory + i * SharedTile<HeadDim>::bytes}; }
};

/// Scores of 32 queries against a tile of keys.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void multiply_keys(const Isa& isa, const Fragment (&queries)[2][steps<HeadDim>],
                                  const SharedTile<HeadDim>& keys, Accumulator (&scores)[2][8]) {
    BIGBIRD_UNROLL
    for (int pair = 0; pair < 4; ++pair) {
        BIGBIRD_UNROLL
        for (int step = 0; step < HeadDim / 16; ++step) {
            const Fragment b = second_operand(isa, keys, 16 * pair, step);
            BIGBIRD_UNROLL
            for (int stack = 0; stack < 2; ++stack) {
                isa.template multiply<Scalar>(scores[stack][2 * pair], queries[stack][step], b.x[0], b.x[1]);
                isa.template multiply<Scalar>(scores[stack][2 * pair + 1], queries[stack][step], b.x[2],
                                              b.x[3]);
            }
        }
    }
}

/// Adds the terms that differ between elements, in log2; scores are not yet scaled.
template <int HeadDim, std::size_t Stacks, DeviceIsa Isa>
BIGBIRD_DEVICE void add_element_biases(const Isa& isa, const Tiling& tiling, const TileBias& bias, int row,
                                       Accumulator (&scores)[Stacks][8]) {
    constexpr float unscale = 1.0F / (scale_of<HeadDim>() * log2_e);
    const int lane = isa.lane();
    BIGBIRD_UNROLL
    for (int stack = 0; stack < static_cast<int>(Stacks); ++stack) {
        BIGBIRD_UNROLL
        for (int n = 0; n < 8; ++n) {
            BIGBIRD_UNROLL
            for (int i = 0; i < 4; ++i) {
                const int query = row + 16 * stack + lane / 4 + 8 * (i / 2);
                const int key = 8 * n + 2 * (lane % 4) + i % 2;
                scores[stack][n].x[i] += unscale * bias.of(tiling, query, key);
            }
        }
    }
}

/// Folds a tile's scores into the running softmax and leaves weights in their place. Weight = 2^(score *
/// factor + bias).
template <int HeadDim, int Stacks, DeviceIsa Isa>
BIGBIRD_DEVICE void softmax_step(const Isa& isa, ForwardState<HeadDim, Stacks>& state,
                                 Accumulator (&scores)[static_cast<std::size_t>(Stacks)][8], float factor,
                                 float bias) {
    BIGBIRD_UNROLL
    for (int stack = 0; stack < Stacks; ++stack) {
        BIGBIRD_UNROLL
        for (int half = 0; half < 2; ++half) {
            float top = -INFINITY;
            BIGBIRD_UNROLL
            for (int n = 0; n < 8; ++n)
                top = isa.max(top, isa.max(scores[stack][n].x[2 * half], scores[stack][n].x[2 * half + 1]));
            top = isa.max(top, isa.shuffle_xor(top, 1));
            top = isa.max(top, isa.shuffle_xor(top, 2));
            const float old = state.highest[stack][half];
            const float next = isa.max(old, top * factor + bias);
            // A row that attends nothing yet has no highest score; its weights are still 0.
            const float offset = next == -INFINITY ? 0.0F : next;
            const float keep = isa.exp2(old - offset);
            float sum = 0;
            BIGBIRD_UNROLL
            for (int n = 0; n < 8; ++n) {
                BIGBIRD_UNROLL
                for (int i = 2 * half; i < 2 * half + 2; ++i) {
                    scores[stack][n].x[i] = isa.exp2(scores[stack][n].x[i] * factor + (bias - offset));
                    sum += scores[stack][n].x[i];
                }
            }
            state.highest[stack][half] = next;
            state.total[stack][half] = state.total[stack][half] * keep + sum;
            BIGBIRD_UNROLL
            for (int n = 0; n < HeadDim / 8; ++n) {
                state.out[stack][n].x[2 * half] *= keep;
                state.out[stack][n].x[2 * half + 1] *= keep;
            }
        }
    }
}

template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void multiply_values(const Isa& isa, const Accumulator (&weights)[2][8],
                                    const SharedTile<HeadDim>& values, ForwardState<HeadDim, 2>& state) {
    BIGBIRD_UNROLL
    for (int step = 0; step < 4; ++step) {
        Fragment p[2];
        BIGBIRD_UNROLL
        for (int stack = 0; stack < 2; ++stack)
            p[stack] = as_operand<Scalar>(isa, weights[stack][2 * step], weights[stack][2 * step + 1]);
        BIGBIRD_UNROLL
        for (int pair = 0; pair < HeadDim / 16; ++pair) {
            const Fragment b = second_operand_transposed(isa, values, 16 * step, pair);
            BIGBIRD_UNROLL
            for (int stack = 0; stack < 2; ++stack) {
                isa.template multiply<Scalar>(state.out[stack][2 * pair], p[stack], b.x[0], b.x[1]);
                isa.template multiply<Scalar>(state.out[stack][2 * pair + 1], p[stack], b.x[2], b.x[3]);
            }
        }
    }
}

/// The log-sum of a row, or +infinity where the row has none to give a gradient.
BIGBIRD_DEVICE float kept_lse(float lse, bool is_real) {
    return is_real && lse != -INFINITY ? lse : INFINITY;
}

/// Normalizes 16 rows and writes them, or their part.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void finish_stack(const Isa& isa, const Arguments& a, const Unit& unit, int sample, int side,
                                 const SharedTile<HeadDim>& through, int row,
                                 Accumulator (&out)[stacked<HeadDim>], const float (&highest)[2],
                                 const float (&total)[2]) {
    const int tile = of_side(unit.tile, side), lane = isa.lane();
    const int first = first_token_of(a.tiling, tile), count = count_tokens(a.tiling, tile);
    const bool is_part = of_side(unit.slot, side) >= 0;
    const std::int64_t slot = static_cast<std::int64_t>(sample) * a.queries.slots + of_side(unit.slot, side);
    float* const part = is_part ? a.workspace + slot * tile_tokens * (HeadDim + 1) : nullptr;
    BIGBIRD_UNROLL
    for (int half = 0; half < 2; ++half) {
        const int of_tile = row + lane / 4 + 8 * half;
        float sum = total[half];
        sum += isa.shuffle_xor(sum, 1);
        sum += isa.shuffle_xor(sum, 2);
        const float lse = sum > 0 ? highest[half] + isa.log2(sum) : -INFINITY;
        const bool is_real =
            of_tile < count &&
            (is_part || a.zero_padded_queries == 0 ||
             a.key_mask[static_cast<std::int64_t>(sample) * a.tiling.length + first + of_tile] != 0);
        const float factor = is_real && sum > 0 ? 1.0F / sum : 0.0F;
        BIGBIRD_UNROLL
        for (int n = 0; n < HeadDim / 8; ++n) {
            // Selects 0 instead of multiplying by 0, which would keep a NaN.
            out[n].x[2 * half] = is_real ? out[n].x[2 * half] * factor : 0.0F;
            out[n].x[2 * half + 1] = is_real ? out[n].x[2 * half + 1] * factor : 0.0F;
        }
        if (lane % 4 == 0) {
            if (is_part)
                part[tile_tokens * HeadDim + of_tile] = lse;
            else
                a.lse[row_place(a, sample, unit.head, tile) + of_tile] = kept_lse(lse, is_real);
        }
    }
    if (is_part)
        store_part<HeadDim>(isa, part, row, out);
    else
        store_rows<HeadDim, Scalar>(isa, through, row, out, rows_of(a.out, sample, unit.head), first, count);
}

/// One step of a warp: a key tile in shared memory against its 32 queries.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void forward_step(const Isa& isa, const Tiling& tiling, const TileBias& bias, int row,
                                 const Fragment (&queries)[2][steps<HeadDim>],
                                 const SharedTile<HeadDim>& keys, const SharedTile<HeadDim>& values,
                                 ForwardState<HeadDim, 2>& state) {
    Accumulator scores[2][8];
    multiply_keys<HeadDim, Scalar>(isa, queries, keys, scores);
    if (!bias.is_plain) add_element_biases<HeadDim>(isa, tiling, bias, row, scores);
    softmax_step(isa, state, scores, scale_of<HeadDim>() * log2_e, bias.shared());
    multiply_values<HeadDim, Scalar>(isa, scores, values, state);
}

/// Thread block `isa.block()` of samples * queries.unit_count.
template <int HeadDim, typename Scalar>
struct ForwardKernel : KernelShape<Arguments, threads_per_block, 2> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        const ForwardShared<HeadDim> shared{isa.shared()};
        const int sample = isa.block() / a.queries.unit_count;
        const Unit unit = a.queries.units[isa.block() % a.queries.unit_count];
        const int warp = isa.thread() / warp_lanes, side = warp / 2, row = warp % 2 * 32;
        for (int i = 0; i < 2; ++i) {
            const TokenRange range = tokens_of_side(a, unit, i);
            load_tile<HeadDim>(isa, shared.queries(i), rows_of(a.q, sample, unit.head), range.first,
                               range.count);
        }
        ForwardState<HeadDim, 2> state;
        begin_softmax(state);
        Fragment queries[2][steps<HeadDim>];
        walk_keys<HeadDim>(
            isa, a, shared, unit, sample, side,
            [&] { load_rows<HeadDim>(isa, shared.queries(side), row, queries); },
            [&](const TileBias& bias, const SharedTile<HeadDim>& keys, const SharedTile<HeadDim>& values) {
                forward_step<HeadDim, Scalar>(isa, a.tiling, bias, row, queries, keys, values, state);
            });
        if (of_side(unit.tile, side) >= 0) {
            BIGBIRD_UNROLL
            for (int stack = 0; stack < 2; ++stack) {
                finish_stack<HeadDim, Scalar>(isa, a, unit, sample, side, shared.queries(side),
                                              row + 16 * stack, state.out[stack], state.highest[stack],
                                              state.total[stack]);
            }
        }
    }
};

/// The greatest of a row's log-sums, one per part; each of the row's lanes reads every lanes-th.
template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE float highest_of_parts(const Isa& isa, const float* sums, int count) {
    constexpr int lanes = SumGrid<HeadDim>::lanes;
    float highest = -INFINITY;
    for (int part = isa.thread() % lanes; part < count; part += lanes)
        highest = isa.max(highest, sums[part * tile_tokens * (HeadDim + 1)]);
    BIGBIRD_UNROLL
    for (int mask = 1; mask < lanes; mask *= 2)
        highest = isa.max(highest, isa.shuffle_xor(highest, mask));
    return highest;
}

/// Joins the parts of divided lists, in their order. Grid: samples * queries.sum_count * SumGrid::blocks
/// thread blocks.
template <int HeadDim, typename Scalar>
struct CombineKernel : KernelShape<Arguments> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        constexpr int part_floats = tile_tokens * (HeadDim + 1);
        const SumGrid<HeadDim> at(isa);
        const int sample = at.item / a.queries.sum_count;
        const Sum sum = a.queries.sums[at.item % a.queries.sum_count];
        const int first = first_token_of(a.tiling, sum.tile), count = count_tokens(a.tiling, sum.tile);
        const std::int64_t slot = static_cast<std::int64_t>(sample) * a.queries.slots + sum.first;
        const float* parts = a.workspace + slot * part_floats;
        const float* sums = parts + tile_tokens * HeadDim + at.row;
        const float highest = highest_of_parts<HeadDim>(isa, sums, sum.count);
        const float offset = highest == -INFINITY ? 0.0F : highest;
        float total = 0, values[8] = {};
        for (int part = 0; part < sum.count; ++part) {
            const float weight = isa.exp2(sums[part * part_floats] - offset);
            float of_part[8];
            isa.load_floats8(parts + part * part_floats + at.row * HeadDim + at.column, of_part);
            total += weight;
            BIGBIRD_UNROLL
            for (int j = 0; j < 8; ++j)
                values[j] += weight * of_part[j];
        }
        const bool is_real =
            at.row < count &&
            (a.zero_padded_queries == 0 ||
             a.key_mask[static_cast<std::int64_t>(sample) * a.tiling.length + first + at.row] != 0);
        const float factor = total > 0 ? 1.0F / total : 0.0F;
        BIGBIRD_UNROLL
        for (int j = 0; j < 8; ++j)
            values[j] = is_real ? values[j] * factor : 0.0F;
        if (at.row < count)
            isa.template store8<Scalar>(rows_of(a.out, sample, sum.head).row(first + at.row) + at.column,
                                        values);
        if (at.column == 0) {
            a.lse[row_place(a, sample, sum.head, sum.tile) + at.row] =
                kept_lse(total > 0 ? highest + isa.log2(total) : -INFINITY, is_real);
        }
    }
};

}  // namespace bigbird::attention::cuda
