// SPDX-License-Identifier: Apache-2.0
// Attention forward by products of four warps (group_tiles.hpp): the units of forward.hpp, one group of warps
// a query tile.
#pragma once

#include "bigbird/attention/cuda/forward.hpp"
#include "bigbird/attention/cuda/group_tiles.hpp"

namespace bigbird::attention::cuda {

/// One step of a group: a key tile against its 64 queries.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void group_forward_step(const Machine& machine, const Tiling& tiling, const TileBias& bias,
                                       int row, const GroupTile& queries, const GroupTile& keys,
                                       const GroupTile& values, ForwardState<group_head_dim, 1>& state) {
    Accumulator scores[1][8];
    machine.group_fence(scores[0]);
    issue_rows_by_rows<Scalar>(machine, scores[0], queries, keys);
    machine.group_commit();
    machine.group_wait(scores[0]);
    if (!bias.is_plain) {
        add_element_biases<group_head_dim>(machine, tiling, bias, row, scores);
    }
    softmax_step(machine, state, scores, scale_of<group_head_dim>() * log2_e, bias.shared());
    Fragment weights[4];
    as_operands<Scalar>(machine, scores[0], weights);
    machine.group_fence(weights, state.out[0]);
    issue_by_tile<Scalar>(machine, state.out[0], weights, values);
    machine.group_commit();
    machine.group_wait(weights, state.out[0]);
}

/// Thread block of samples * queries.unit_count, of two groups.
template <typename Scalar, typename Machine>
BIGBIRD_DEVICE void group_forward_kernel(const Machine& machine, const Arguments& a) {
    constexpr int threads = 2 * group_threads;
    const ForwardShared<group_head_dim> shared{machine.shared()};
    const int sample = machine.block() / a.queries.unit_count;
    const Unit unit = a.queries.units[machine.block() % a.queries.unit_count];
    const int side = machine.thread() / group_threads;
    const int row = machine.thread() % group_threads / warp_lanes * 16;
    for (int i = 0; i < 2; ++i) {
        const TokenRange range = tokens_of_side(a, unit, i);
        load_tile<group_head_dim, threads>(machine, shared.queries(i), rows_of(a.q, sample, unit.head),
                                           range.first, range.count);
    }
    ForwardState<group_head_dim, 1> state;
    begin_softmax(state);
    walk_keys<group_head_dim, threads, FinishGroupLoading>(
        machine, a, shared, unit, sample, side, [] {},
        [&](const TileBias& bias, const GroupTile& keys, const GroupTile& values) {
            group_forward_step<Scalar>(machine, a.tiling, bias, row, shared.queries(side), keys, values,
                                       state);
        });
    if (of_side(unit.tile, side) >= 0) {
        finish_stack<group_head_dim, Scalar>(machine, a, unit, sample, side, shared.queries(side), row,
                                             state.out[0], state.highest[0], state.total[0]);
    }
}

}  // namespace bigbird::attention::cuda
