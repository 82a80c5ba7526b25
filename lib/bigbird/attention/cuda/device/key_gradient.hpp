// SPDX-License-Identifier: Apache-2.0
// dk and dv: a thread block takes a key tile through the query tiles that attend it, 16 keys per warp. Scores
// are computed with keys as rows, so that they are operands of the next products without a transposition.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"

namespace bigbird::attention::cuda {

template <int HeadDim>
struct KeyGradientShared {
    static constexpr int stage_bytes = 2 * SharedTile<HeadDim>::bytes + 2 * tile_tokens * 4;
    static constexpr int bytes = 2 * SharedTile<HeadDim>::bytes + 2 * stage_bytes;
    std::byte* memory;
    BIGBIRD_DEVICE SharedTile<HeadDim> keys() const { return {memory}; }
    BIGBIRD_DEVICE SharedTile<HeadDim> values() const { return {memory + SharedTile<HeadDim>::bytes}; }
    BIGBIRD_DEVICE SharedTile<HeadDim> queries(int stage) const { return {stage_base(stage)}; }
    BIGBIRD_DEVICE SharedTile<HeadDim> d_out(int stage) const {
        return {stage_base(stage) + SharedTile<HeadDim>::bytes};
    }
    BIGBIRD_DEVICE float* lse(int stage) const {
        return reinterpret_cast<float*>(stage_base(stage) + 2 * SharedTile<HeadDim>::bytes);
    }
    BIGBIRD_DEVICE float* delta(int stage) const { return lse(stage) + tile_tokens; }

private:
    BIGBIRD_DEVICE std::byte* stage_base(int stage) const {
        return memory + 2 * SharedTile<HeadDim>::bytes + stage * stage_bytes;
    }
};

template <int HeadDim>
struct KeyOperands {
    Fragment k[steps<HeadDim>], v[steps<HeadDim>];
};

/// Weights of 16 keys for 16 queries and the gradients of their scores, unscaled, as first operands.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void transposed_gradients(const Isa& isa, const Tiling& tiling, const TileBias& bias, int row,
                                         int query, const KeyOperands<HeadDim>& operands,
                                         const KeyGradientShared<HeadDim>& shared, int stage,
                                         Fragment& weights, Fragment& d_scores) {
    Accumulator scores[2], d_weights[2];
    BIGBIRD_UNROLL
    for (int step = 0; step < HeadDim / 16; ++step) {
        const Fragment q = second_operand(isa, shared.queries(stage), query, step);
        const Fragment d_out = second_operand(isa, shared.d_out(stage), query, step);
        BIGBIRD_UNROLL
        for (int n = 0; n < 2; ++n) {
            isa.template multiply<Scalar>(scores[n], operands.k[step], q.x[2 * n], q.x[2 * n + 1]);
            isa.template multiply<Scalar>(d_weights[n], operands.v[step], d_out.x[2 * n], d_out.x[2 * n + 1]);
        }
    }
    constexpr float factor = scale_of<HeadDim>() * log2_e;
    const int first_query = query + 2 * (isa.lane() % 4), first_key = row + isa.lane() / 4;
    if (!bias.is_plain) {
        BIGBIRD_UNROLL
        for (int j = 0; j < 8; ++j) {
            const int n = j / 4, i = j % 4;
            scores[n].x[i] += bias.of(tiling, first_query + 8 * n + i % 2, first_key + 8 * (i / 2)) / factor;
        }
    }
    BIGBIRD_UNROLL
    for (int j = 0; j < 8; ++j) {
        const int n = j / 4, i = j % 4, of_tile = first_query + 8 * n + i % 2;
        const float weight = isa.exp2(scores[n].x[i] * factor + (bias.shared() - shared.lse(stage)[of_tile]));
        scores[n].x[i] = weight;
        d_weights[n].x[i] = weight * (d_weights[n].x[i] - shared.delta(stage)[of_tile]);
    }
    weights = as_operand<Scalar>(isa, scores[0], scores[1]);
    d_scores = as_operand<Scalar>(isa, d_weights[0], d_weights[1]);
}

/// One step of a warp: a query tile in shared memory against its 16 keys.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void key_gradient_step(const Isa& isa, const Tiling& tiling, const TileBias& bias, int row,
                                      const KeyOperands<HeadDim>& operands,
                                      const KeyGradientShared<HeadDim>& shared, int stage,
                                      Accumulator (&dk)[stacked<HeadDim>],
                                      Accumulator (&dv)[stacked<HeadDim>]) {
    BIGBIRD_UNROLL
    for (int query = 0; query < tile_tokens; query += 16) {
        Fragment weights, d_scores;
        transposed_gradients<HeadDim, Scalar>(isa, tiling, bias, row, query, operands, shared, stage, weights,
                                              d_scores);
        BIGBIRD_UNROLL
        for (int pair = 0; pair < HeadDim / 16; ++pair) {
            const Fragment d_out = second_operand_transposed(isa, shared.d_out(stage), query, pair);
            const Fragment q = second_operand_transposed(isa, shared.queries(stage), query, pair);
            BIGBIRD_UNROLL
            for (int n = 0; n < 2; ++n) {
                isa.template multiply<Scalar>(dv[2 * pair + n], weights, d_out.x[2 * n], d_out.x[2 * n + 1]);
                isa.template multiply<Scalar>(dk[2 * pair + n], d_scores, q.x[2 * n], q.x[2 * n + 1]);
            }
        }
    }
}

/// Starts copying a query tile, its d_out, log-sums and deltas.
template <int HeadDim, DeviceIsa Isa>
BIGBIRD_DEVICE void load_queries(const Isa& isa, const Arguments& a, const KeyGradientShared<HeadDim>& shared,
                                 int sample, int head, const Entry& of, int stage) {
    const int first = first_of(of), count = count_of(of);
    load_tile<HeadDim>(isa, shared.queries(stage), rows_of(a.q, sample, head), first, count);
    load_tile<HeadDim>(isa, shared.d_out(stage), rows_of(a.d_out, sample, head), first, count);
    const std::int64_t sums = row_place(a, sample, head, of.tile);
    const int thread = isa.thread();
    if (thread < 16)
        isa.copy16(shared.lse(stage) + 4 * thread, a.lse + sums + 4 * thread, true);
    else if (thread < 32)
        isa.copy16(shared.delta(stage) + 4 * (thread - 16), a.delta + sums + 4 * (thread - 16), true);
}

/// Writes dk and dv of a warp's 16 keys through its rows of two shared tiles, or their part.
template <int HeadDim, typename Scalar, DeviceIsa Isa>
BIGBIRD_DEVICE void store_key_gradients(const Isa& isa, const Arguments& a, const Unit& unit, int sample,
                                        int row, const SharedTile<HeadDim>& keys,
                                        const SharedTile<HeadDim>& values,
                                        Accumulator (&dk)[stacked<HeadDim>],
                                        Accumulator (&dv)[stacked<HeadDim>]) {
    const int first = first_token_of(a.tiling, unit.tile[0]), count = count_tokens(a.tiling, unit.tile[0]);
    scale_rows<HeadDim>(dk, scale_of<HeadDim>());
    if (unit.slot[0] >= 0) {
        const std::int64_t slot = static_cast<std::int64_t>(sample) * a.keys.slots + unit.slot[0];
        float* part = a.workspace + (static_cast<std::int64_t>(a.samples) * a.queries.slots + 2 * slot) *
                                        tile_tokens * HeadDim;
        store_part<HeadDim>(isa, part, row, dk);
        store_part<HeadDim>(isa, part + tile_tokens * HeadDim, row, dv);
    } else {
        store_rows<HeadDim, Scalar>(isa, keys, row, dk, rows_of(a.dk, sample, unit.head), first, count);
        store_rows<HeadDim, Scalar>(isa, values, row, dv, rows_of(a.dv, sample, unit.head), first, count);
    }
}

/// Computes dk and dv. Grid: samples * keys.unit_count thread blocks; 16 keys per warp.
template <int HeadDim, typename Scalar>
struct KeyGradientKernel : KernelShape<Arguments, threads_per_block, (HeadDim > 64 ? 1 : 3)> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        const KeyGradientShared<HeadDim> shared{isa.shared()};
        const int sample = isa.block() / a.keys.unit_count;
        const Unit unit = a.keys.units[isa.block() % a.keys.unit_count];
        const int row = isa.thread() / warp_lanes * 16, tile = unit.tile[0];
        const int first = first_token_of(a.tiling, tile), count = count_tokens(a.tiling, tile);
        load_tile<HeadDim>(isa, shared.keys(), rows_of(a.k, sample, unit.head), first, count);
        load_tile<HeadDim>(isa, shared.values(), rows_of(a.v, sample, unit.head), first, count);
        Entry entry = entry_of(a.keys, unit, 0), next = entry_of(a.keys, unit, 1);
        load_queries<HeadDim>(isa, a, shared, sample, unit.head, entry, 0);
        isa.commit_copies();
        const KeyBits bits = bits_of(isa, load_key_pair(isa, a, sample, first, count));
        isa.wait_copies();
        isa.sync_block();
        KeyOperands<HeadDim> operands;
        BIGBIRD_UNROLL
        for (int step = 0; step < HeadDim / 16; ++step) {
            operands.k[step] = first_operand(isa, shared.keys(), row, step);
            operands.v[step] = first_operand(isa, shared.values(), row, step);
        }
        Accumulator dk[stacked<HeadDim>], dv[stacked<HeadDim>];
        for (int i = 0; i < unit.count; ++i) {
            const int stage = i % 2;
            const TileBias bias = bias_of(a, entry.bias[0], count, bits);
            if (i + 1 < unit.count) {
                entry = next;
                load_queries<HeadDim>(isa, a, shared, sample, unit.head, entry, 1 - stage);
                isa.commit_copies();
                next = entry_of(a.keys, unit, i + 2);
            }
            key_gradient_step<HeadDim, Scalar>(isa, a.tiling, bias, row, operands, shared, stage, dk, dv);
            isa.wait_copies();
            isa.sync_block();  // the next stage has been copied, and all threads have read this one
        }
        store_key_gradients<HeadDim, Scalar>(isa, a, unit, sample, row, shared.keys(), shared.values(), dk,
                                             dv);
    }
};

}  // namespace bigbird::attention::cuda
