// SPDX-License-Identifier: Apache-2.0
// Attention backward by products of four warps (group_tiles.hpp): the units of query_gradient.hpp, one group
// of warps a query tile, and of key_gradient.hpp, one group a key tile.
#pragma once

#include "bigbird/attention/cuda/group_tiles.hpp"
#include "bigbird/attention/cuda/key_gradient.hpp"
#include "bigbird/attention/cuda/query_gradient.hpp"

namespace bigbird::attention::cuda {

/// What a lane knows of its two queries, rows g and g + 8.
struct GroupRowSums {
    float lse[2], delta[2];
};

/// Issues the scores and, behind them, the gradients of the weights, which are computed while the
/// exponentials of the scores are.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void issue_scores(const Machine& machine, Accumulator (&scores)[8], const GroupTile& a,
                                 const GroupTile& b, Accumulator (&d_weights)[8], const GroupTile& c,
                                 const GroupTile& d) {
    machine.group_fence(scores, d_weights);
    issue_rows_by_rows<Scalar>(machine, scores, a, b);
    machine.group_commit();
    issue_rows_by_rows<Scalar>(machine, d_weights, c, d);
    machine.group_commit();
}

/// One step of a group: a key tile against its 64 queries.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void group_query_step(const Machine& machine, const Tiling& tiling, const TileBias& bias,
                                     int row, const GroupRowSums& rows, const GroupTile& queries,
                                     const GroupTile& d_out, const GroupTile& keys, const GroupTile& values,
                                     Accumulator (&dq)[8]) {
    Accumulator scores[8], d_weights[8];
    issue_scores<Scalar>(machine, scores, queries, keys, d_weights, d_out, values);
    machine.template group_wait<1>(scores);
    constexpr float factor = scale_of<group_head_dim>() * log2_e;
    const int first_query = row + machine.lane() / 4, first_key = 2 * (machine.lane() % 4);
    if (!bias.is_plain) {
        BIGBIRD_UNROLL
        for (int j = 0; j < 32; ++j) {
            const int n = j / 4, i = j % 4;
            scores[n].x[i] += bias.of(tiling, first_query + 8 * (i / 2), first_key + 8 * n + i % 2) / factor;
        }
    }
    BIGBIRD_UNROLL
    for (int j = 0; j < 32; ++j) {
        float& score = scores[j / 4].x[j % 4];
        score = machine.exp2(score * factor + (bias.shared() - rows.lse[j % 4 / 2]));
    }
    machine.group_wait(d_weights);
    BIGBIRD_UNROLL
    for (int j = 0; j < 32; ++j) {
        const int n = j / 4, i = j % 4;
        d_weights[n].x[i] = scores[n].x[i] * (d_weights[n].x[i] - rows.delta[i / 2]);
    }
    Fragment d_scores[4];
    as_operands<Scalar>(machine, d_weights, d_scores);
    machine.group_fence(d_scores, dq);
    issue_by_tile<Scalar>(machine, dq, d_scores, keys);
    machine.group_commit();
    machine.group_wait(d_scores, dq);
}

/// Writes 16 rows of dq, or their part.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void store_group_query_gradients(const Machine& machine, const Arguments& a, const Unit& unit,
                                                int sample, int side, int row, const GroupTile& through,
                                                Accumulator (&dq)[8]) {
    const int tile = of_side(unit.tile, side);
    scale_rows<group_head_dim>(dq, scale_of<group_head_dim>());
    if (of_side(unit.slot, side) >= 0) {
        const std::int64_t slot =
            static_cast<std::int64_t>(sample) * a.queries.slots + of_side(unit.slot, side);
        store_part<group_head_dim>(machine, a.workspace + slot * tile_tokens * group_head_dim, row, dq);
    } else {
        store_rows<group_head_dim, Scalar>(machine, through, row, dq, rows_of(a.dq, sample, unit.head),
                                           first_token_of(a.tiling, tile), count_tokens(a.tiling, tile));
    }
}

/// dq. Thread block of samples * queries.unit_count, of two groups.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void group_query_gradient_kernel(const Machine& machine, const Arguments& a) {
    constexpr int threads = 2 * group_threads;
    const QueryGradientShared<group_head_dim> shared{machine.shared()};
    const int sample = machine.block() / a.queries.unit_count;
    const Unit unit = a.queries.units[machine.block() % a.queries.unit_count];
    const int side = machine.thread() / group_threads;
    const int row = machine.thread() % group_threads / warp_lanes * 16;
    load_query_tiles<group_head_dim, threads>(machine, a, shared, unit, sample);
    const int tile = of_side(unit.tile, side);
    const std::int64_t sums =
        row_place(a, sample, unit.head, tile >= 0 ? tile : 0) + row + machine.lane() / 4;
    const GroupRowSums rows{{a.lse[sums], a.lse[sums + 8]}, {a.delta[sums], a.delta[sums + 8]}};
    Accumulator dq[8];
    walk_keys<group_head_dim, threads, FinishGroupLoading>(
        machine, a, shared, unit, sample, side, [] {},
        [&](const TileBias& bias, const GroupTile& keys, const GroupTile& values) {
            group_query_step<Scalar>(machine, a.tiling, bias, row, rows, shared.queries(side),
                                     shared.d_out(side), keys, values, dq);
        });
    if (tile >= 0) {
        store_group_query_gradients<Scalar>(machine, a, unit, sample, side, row, shared.queries(side), dq);
    }
}

/// Keys, values, and two stages of query tiles with their sums, every tile at a multiple of 1024 bytes.
struct GroupKeyShared {
    static constexpr int tiles_bytes = 6 * GroupTile::bytes;
    static constexpr int bytes = tiles_bytes + 4 * tile_tokens * 4;
    std::byte* base;
    BIGBIRD_DEVICE GroupTile keys() const { return tile(0); }
    BIGBIRD_DEVICE GroupTile values() const { return tile(1); }
    BIGBIRD_DEVICE GroupTile queries(int stage) const { return tile(2 + 2 * stage); }
    BIGBIRD_DEVICE GroupTile d_out(int stage) const { return tile(3 + 2 * stage); }
    BIGBIRD_DEVICE float* lse(int stage) const {
        return reinterpret_cast<float*>(base + tiles_bytes) + 2 * stage * tile_tokens;
    }
    BIGBIRD_DEVICE float* delta(int stage) const { return lse(stage) + tile_tokens; }

private:
    BIGBIRD_DEVICE GroupTile tile(int i) const { return {base + i * GroupTile::bytes}; }
};

/// One step of a group: a query tile against its 64 keys.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void group_key_step(const Machine& machine, const Tiling& tiling, const TileBias& bias,
                                   int row, const GroupKeyShared& shared, int stage, Accumulator (&dk)[8],
                                   Accumulator (&dv)[8]) {
    Accumulator scores[8], d_weights[8];
    issue_scores<Scalar>(machine, scores, shared.keys(), shared.queries(stage), d_weights, shared.values(),
                         shared.d_out(stage));
    machine.template group_wait<1>(scores);
    constexpr float factor = scale_of<group_head_dim>() * log2_e;
    const int first_query = 2 * (machine.lane() % 4), first_key = row + machine.lane() / 4;
    if (!bias.is_plain) {
        BIGBIRD_UNROLL
        for (int j = 0; j < 32; ++j) {
            const int n = j / 4, i = j % 4;
            scores[n].x[i] += bias.of(tiling, first_query + 8 * n + i % 2, first_key + 8 * (i / 2)) / factor;
        }
    }
    BIGBIRD_UNROLL
    for (int j = 0; j < 32; ++j) {
        float& score = scores[j / 4].x[j % 4];
        const int query = first_query + 8 * (j / 4) + j % 2;
        score = machine.exp2(score * factor + (bias.shared() - shared.lse(stage)[query]));
    }
    machine.group_wait(d_weights);
    BIGBIRD_UNROLL
    for (int j = 0; j < 32; ++j) {
        const int n = j / 4, i = j % 4, query = first_query + 8 * n + i % 2;
        d_weights[n].x[i] = scores[n].x[i] * (d_weights[n].x[i] - shared.delta(stage)[query]);
    }
    Fragment weights[4], d_scores[4];
    as_operands<Scalar>(machine, scores, weights);
    as_operands<Scalar>(machine, d_weights, d_scores);
    machine.group_fence(weights, d_scores, dk, dv);
    issue_by_tile<Scalar>(machine, dv, weights, shared.d_out(stage));
    issue_by_tile<Scalar>(machine, dk, d_scores, shared.queries(stage));
    machine.group_commit();
    machine.group_wait(weights, d_scores, dk, dv);
}

/// dk and dv. Thread block of samples * keys.unit_count, of one group.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void group_key_gradient_kernel(const Machine& machine, const Arguments& a) {
    const GroupKeyShared shared{machine.shared()};
    const int sample = machine.block() / a.keys.unit_count;
    const Unit unit = a.keys.units[machine.block() % a.keys.unit_count];
    const int row = machine.thread() / warp_lanes * 16, tile = unit.tile[0];
    const int first = first_token_of(a.tiling, tile), count = count_tokens(a.tiling, tile);
    load_tile<group_head_dim>(machine, shared.keys(), rows_of(a.k, sample, unit.head), first, count);
    load_tile<group_head_dim>(machine, shared.values(), rows_of(a.v, sample, unit.head), first, count);
    Entry entry = entry_of(a.keys, unit, 0), next = entry_of(a.keys, unit, 1);
    load_queries<group_head_dim>(machine, a, shared, sample, unit.head, entry, 0);
    machine.commit_copies();
    const KeyBits bits = bits_of(machine, load_key_pair(machine, a, sample, first, count));
    Accumulator dk[8], dv[8];
    FinishGroupLoading{}(machine);
    for (int i = 0; i < unit.count; ++i) {
        const int stage = i % 2;
        const TileBias bias = bias_of(a, entry.bias[0], count, bits);
        if (i + 1 < unit.count) {
            entry = next;
            load_queries<group_head_dim>(machine, a, shared, sample, unit.head, entry, 1 - stage);
            machine.commit_copies();
            next = entry_of(a.keys, unit, i + 2);
        }
        group_key_step<Scalar>(machine, a.tiling, bias, row, shared, stage, dk, dv);
        FinishGroupLoading{}(machine);  // the next stage has come, and this one has been read
    }
    store_key_gradients<group_head_dim, Scalar>(machine, a, unit, sample, row, shared.keys(), shared.values(),
                                                dk, dv);
}

}  // namespace bigbird::attention::cuda
