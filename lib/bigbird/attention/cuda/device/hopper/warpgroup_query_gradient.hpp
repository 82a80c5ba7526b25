// SPDX-License-Identifier: Apache-2.0
// dq by products of four warps (warpgroup_tiles.hpp): the units of query_gradient.hpp, one group of warps a
// query tile.
#pragma once

#include "bigbird/attention/cuda/device/hopper/warpgroup_queries.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_weights.hpp"

namespace bigbird::attention::cuda {

/// A unit's tiles: the queries of both sides, then their d_out.
struct WarpgroupQueryGradientShape {
    static constexpr int teams = query_teams, groups = 2, registers = 104, producer_registers = 64;
    static constexpr int unit_tiles = 4, unit_buffers = 2, step_buffers = 3, step_sums = 0;
};

template <typename Scalar>
class WarpgroupQueryGradient {
public:
    using Shared = PipelineShared<WarpgroupQueryGradientShape>;
    BIGBIRD_DEVICE WarpgroupQueryGradient(const Arguments& a, const Shared& shared, int side)
        : a_(a), shared_(shared), side_(side) {}

    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void begin(const Isa& isa, const UnitHeader& header) {
        BIGBIRD_UNROLL
        for (Accumulator& sum : dq_) {
            sum = {};
        }
        const int tile = of_side(header.unit.tile, side_);
        const std::int64_t sums = row_place(a_, header.sample, header.unit.head, tile >= 0 ? tile : 0) +
                                  row_of(isa) + isa.lane() / 4;
        BIGBIRD_UNROLL
        for (int half = 0; half < 2; ++half) {
            lse_[half] = a_.lse[sums + 8 * half];
            delta_[half] = a_.delta[sums + 8 * half];
        }
    }

    /// A key tile against the group's 64 queries.
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void step(const Isa& isa, const TileBias& bias, int buffer, int step_buffer) {
        const WarpgroupTile keys = shared_.step_tile(step_buffer, 0),
                            values = shared_.step_tile(step_buffer, 1);
        const int first_query = row_of(isa) + isa.lane() / 4, first_key = 2 * (isa.lane() % 4);
        Fragment weights[4];
        multiply_to_weights<Scalar, Fp16>(
            isa, shared_.unit_tile(buffer, side_), keys, bias.is_plain, weights,
            [&](int n, int i) {
                return bias.of(a_.tiling, first_query + 8 * (i / 2), first_key + 8 * n + i % 2);
            },
            [&](int, int i) { return bias.shared() - lse_[i / 2]; });
        Fragment d_scores[4];
        multiply_to_score_gradients<Scalar, Fp16>(isa, shared_.unit_tile(buffer, 2 + side_), values, weights,
                                                  d_scores, [&](int, int i) { return delta_[i / 2]; });
        isa.warpgroup_fence(d_scores, dq_);
        issue_by_tile<Scalar>(isa, dq_, d_scores, keys);
        isa.warpgroup_commit();
        isa.warpgroup_wait(d_scores, dq_);
    }

    /// Writes the warp's 16 rows of dq, or their part.
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void finish(const Isa& isa, const UnitHeader& header, int buffer) {
        const int row = row_of(isa);
        const Unit unit = header.unit;
        const int tile = of_side(unit.tile, side_);
        if (tile < 0) {
            return;
        }
        scale_rows<warpgroup_head_dim>(dq_, scale_of<warpgroup_head_dim>());
        if (of_side(unit.slot, side_) >= 0) {
            const std::int64_t slot =
                static_cast<std::int64_t>(header.sample) * a_.queries.slots + of_side(unit.slot, side_);
            store_part<warpgroup_head_dim>(isa, a_.workspace + slot * tile_tokens * warpgroup_head_dim, row,
                                           dq_);
        } else {
            store_rows<warpgroup_head_dim, Scalar>(
                isa, shared_.unit_tile(buffer, side_), row, dq_, rows_of(a_.dq, header.sample, unit.head),
                first_token_of(a_.tiling, tile), count_tokens(a_.tiling, tile));
        }
    }

private:
    const Arguments& a_;
    const Shared& shared_;
    int side_;
    float lse_[2], delta_[2];  // of the lane's two queries, rows g and g + 8
    Accumulator dq_[8];
};

}  // namespace bigbird::attention::cuda
