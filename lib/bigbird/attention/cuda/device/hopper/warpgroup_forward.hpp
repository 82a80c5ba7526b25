// SPDX-License-Identifier: Apache-2.0
// Attention forward by products of four warps (warpgroup_tiles.hpp): the units of forward.hpp, one group of
// warps a query tile.
#pragma once

#include "bigbird/attention/cuda/device/forward.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_queries.hpp"

namespace bigbird::attention::cuda {

/// A unit's tiles: the queries of both sides.
struct WarpgroupForwardShape {
    static constexpr int teams = query_teams, groups = 2, registers = 104, producer_registers = 64;
    static constexpr int unit_tiles = 2, unit_buffers = 2, step_buffers = 4, step_sums = 0;
};

template <typename Scalar>
class WarpgroupForward {
public:
    using Shared = PipelineShared<WarpgroupForwardShape>;
    BIGBIRD_DEVICE WarpgroupForward(const Arguments& a, const Shared& shared, int side)
        : a_(a), shared_(shared), side_(side) {}

    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void begin(const Isa&, const UnitHeader&) {
        state_ = {};
        begin_softmax(state_);
    }

    /// A key tile against the group's 64 queries.
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void step(const Isa& isa, const TileBias& bias, int buffer, int step_buffer) {
        Accumulator scores[1][8];
        isa.warpgroup_fence(scores[0]);
        issue_rows_by_rows<Scalar>(isa, scores[0], shared_.unit_tile(buffer, side_),
                                   shared_.step_tile(step_buffer, 0));
        isa.warpgroup_commit();
        isa.warpgroup_wait(scores[0]);
        if (!bias.is_plain) {
            add_element_biases<warpgroup_head_dim>(isa, a_.tiling, bias, row_of(isa), scores);
        }
        softmax_step(isa, state_, scores, scale_of<warpgroup_head_dim>() * log2_e, bias.shared());
        Fragment weights[4];
        as_operands<Scalar>(isa, scores[0], weights);
        isa.warpgroup_fence(weights, state_.out[0]);
        issue_by_tile<Scalar>(isa, state_.out[0], weights, shared_.step_tile(step_buffer, 1));
        isa.warpgroup_commit();
        isa.warpgroup_wait(weights, state_.out[0]);
    }

    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void finish(const Isa& isa, const UnitHeader& header, int buffer) {
        const Unit unit = header.unit;
        if (of_side(unit.tile, side_) >= 0) {
            finish_stack<warpgroup_head_dim, Scalar>(isa, a_, unit, header.sample, side_,
                                                     shared_.unit_tile(buffer, side_), row_of(isa),
                                                     state_.out[0], state_.highest[0], state_.total[0]);
        }
    }

private:
    const Arguments& a_;
    const Shared& shared_;
    int side_;
    ForwardState<warpgroup_head_dim, 1> state_;
};

}  // namespace bigbird::attention::cuda
