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

/// One step of a group: a key tile against its 64 queries.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void group_query_step(const Machine& machine, const Tiling& tiling, const TileBias& bias,
                                     int row, const GroupRowSums& rows, const GroupTile& queries,
                                     const GroupTile& d_out, const GroupTile& keys, const GroupTile& values,
                                     Accumulator (&dq)[8]) {
    Accumulator scores[8], d_weights[8];
    machine.group_fence(scores, d_weights);
    issue_rows_by_rows<Scalar>(machine, scores, queries, keys);
    issue_rows_by_rows<Scalar>(machine, d_weights, d_out, values);
    machine.group_commit();
    machine.group_wait(scores, d_weights);
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
        const int n = j / 4, i = j % 4, half = i / 2;
        const float weight = machine.exp2(scores[n].x[i] * factor + (bias.shared() - rows.lse[half]));
        d_weights[n].x[i] = weight * (d_weights[n].x[i] - rows.delta[half]);
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
    const HeadRows k = rows_of(a.k, sample, unit.head), v = rows_of(a.v, sample, unit.head);
    for (int i = 0; i < 2; ++i) {
        const int tile = of_side(unit.tile, i);
        const int first = tile >= 0 ? first_token_of(a.tiling, tile) : 0;
        const int count = tile >= 0 ? count_tokens(a.tiling, tile) : 0;
        load_tile<group_head_dim, threads>(machine, shared.queries(i), rows_of(a.q, sample, unit.head), first,
                                           count);
        load_tile<group_head_dim, threads>(machine, shared.d_out(i), rows_of(a.d_out, sample, unit.head),
                                           first, count);
    }
    Entry entry = entry_of(a.queries, unit, 0), next = entry_of(a.queries, unit, 1);
    const auto load_keys = [&](const Entry& of, int stage) {
        const int first = first_of(of), count = count_of(of);
        load_tile<group_head_dim, threads>(machine, shared.keys(stage), k, first, count);
        load_tile<group_head_dim, threads>(machine, shared.values(stage), v, first, count);
    };
    load_keys(entry, 0);
    machine.commit_copies();
    KeyPair pair = load_key_pair(machine, a, sample, first_of(entry), count_of(entry));
    const int tile = of_side(unit.tile, side);
    const std::int64_t sums =
        row_place(a, sample, unit.head, tile >= 0 ? tile : 0) + row + machine.lane() / 4;
    const GroupRowSums rows{{a.lse[sums], a.lse[sums + 8]}, {a.delta[sums], a.delta[sums + 8]}};
    Accumulator dq[8];
    finish_loading(machine);
    for (int i = 0; i < unit.count; ++i) {
        const int stage = i % 2, place = of_side(entry.bias, side);
        const TileBias bias = bias_of(a, place < 0 ? 0 : place, count_of(entry), bits_of(machine, pair));
        if (i + 1 < unit.count) {
            entry = next;
            load_keys(entry, 1 - stage);
            machine.commit_copies();
            pair = load_key_pair(machine, a, sample, first_of(entry), count_of(entry));
            next = entry_of(a.queries, unit, i + 2);
        }
        if (place >= 0) {
            group_query_step<Scalar>(machine, a.tiling, bias, row, rows, shared.queries(side),
                                     shared.d_out(side), shared.keys(stage), shared.values(stage), dq);
        }
        finish_loading(machine);  // the next stage has come, and this one has been read
    }
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
    machine.group_fence(scores, d_weights);
    issue_rows_by_rows<Scalar>(machine, scores, shared.keys(), shared.queries(stage));
    issue_rows_by_rows<Scalar>(machine, d_weights, shared.values(), shared.d_out(stage));
    machine.group_commit();
    machine.group_wait(scores, d_weights);
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
        const int n = j / 4, i = j % 4, query = first_query + 8 * n + i % 2;
        const float weight =
            machine.exp2(scores[n].x[i] * factor + (bias.shared() - shared.lse(stage)[query]));
        scores[n].x[i] = weight;
        d_weights[n].x[i] = weight * (d_weights[n].x[i] - shared.delta(stage)[query]);
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
    finish_loading(machine);
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
        finish_loading(machine);  // the next stage has come, and this one has been read
    }
    store_key_gradients<group_head_dim, Scalar>(machine, a, unit, sample, row, shared.keys(), shared.values(),
                                                dk, dv);
}

}  // namespace bigbird::attention::cuda
