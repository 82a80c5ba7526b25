// SPDX-License-Identifier: Apache-2.0
// dk and dv by products of four warps (warpgroup_tiles.hpp): the units of key_gradient.hpp, a key tile a
// group, keys as rows.
#pragma once

#include "bigbird/attention/cuda/device/hopper/pipeline.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_weights.hpp"
#include "bigbird/attention/cuda/device/key_gradient.hpp"

namespace bigbird::attention::cuda {

/// A unit's tiles: keys, values. A step's: queries, d_out; its sums: their lse and delta.
struct WarpgroupKeyGradientShape {
    static constexpr int teams = key_teams, groups = 1, registers = 144, producer_registers = 80;
    static constexpr int unit_tiles = 2, unit_buffers = 1, step_buffers = 3, step_sums = 2;
};

/// What the producer loads; for short tiles see QueryUnitLoads.
template <DeviceIsa Isa, typename Map>
struct KeyUnitLoads {
    using Shared = PipelineShared<WarpgroupKeyGradientShape>;
    const Isa& isa;
    const WarpgroupArguments<Map>& p;
    const Shared& shared;

    BIGBIRD_DEVICE TokenRange keys_of(const Unit& unit, const Entry&) const {
        return tokens_of_side(p.a, unit, 0);
    }
    BIGBIRD_DEVICE static constexpr int unit_bytes(const Unit&) { return 2 * WarpgroupTile::bytes; }
    BIGBIRD_DEVICE void load_unit(const Unit& unit, int sample, int buffer, Barrier* full) const {
        const int first = first_token_of(p.a.tiling, unit.tile[0]);
        isa.copy_tile(shared.unit_tile(buffer, 0).data, p.k, first, unit.head, sample, full);
        isa.copy_tile(shared.unit_tile(buffer, 1).data, p.v, first, unit.head, sample, full);
    }
    BIGBIRD_DEVICE static constexpr int step_bytes() {
        return 2 * (WarpgroupTile::bytes + Shared::sums_bytes);
    }
    BIGBIRD_DEVICE void load_step(const Unit& unit, int sample, const Entry& entry, int buffer,
                                  Barrier* full) const {
        const int first = first_of(entry);
        isa.copy_tile(shared.step_tile(buffer, 0).data, p.q, first, unit.head, sample, full);
        isa.copy_tile(shared.step_tile(buffer, 1).data, p.d_out, first, unit.head, sample, full);
        const std::int64_t sums = row_place(p.a, sample, unit.head, entry.tile);
        isa.copy_bytes(shared.sums(buffer, 0), p.a.lse + sums, Shared::sums_bytes, full);
        isa.copy_bytes(shared.sums(buffer, 1), p.a.delta + sums, Shared::sums_bytes, full);
    }
};

template <typename Scalar>
class WarpgroupKeyGradient {
public:
    using Shared = PipelineShared<WarpgroupKeyGradientShape>;
    BIGBIRD_DEVICE WarpgroupKeyGradient(const Arguments& a, const Shared& shared, int)
        : a_(a), shared_(shared) {}

    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void begin(const Isa&, const UnitHeader&) {
        BIGBIRD_UNROLL
        for (int n = 0; n < 8; ++n) {
            dk_[n] = {};
            dv_[n] = {};
        }
    }

    /// A query tile against the group's 64 keys.
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void step(const Isa& isa, const TileBias& bias, int buffer, int step_buffer) {
        const WarpgroupTile queries = shared_.step_tile(step_buffer, 0),
                            d_out = shared_.step_tile(step_buffer, 1);
        const float* lse = shared_.sums(step_buffer, 0);
        const float* delta = shared_.sums(step_buffer, 1);
        const int first_query = 2 * (isa.lane() % 4), first_key = row_of(isa) + isa.lane() / 4;
        Fragment weights[4], d_scores[4];
        multiply_to_weights<Scalar, Scalar>(
            isa, shared_.unit_tile(buffer, 0), queries, bias.is_plain, weights,
            [&](int n, int i) {
                return bias.of(a_.tiling, first_query + 8 * n + i % 2, first_key + 8 * (i / 2));
            },
            [&](int n, int i) { return bias.shared() - lse[first_query + 8 * n + i % 2]; });
        multiply_to_score_gradients<Scalar, Scalar>(
            isa, shared_.unit_tile(buffer, 1), d_out, weights, d_scores,
            [&](int n, int i) { return delta[first_query + 8 * n + i % 2]; });
        isa.warpgroup_fence(weights, d_scores, dk_, dv_);
        issue_by_tile<Scalar>(isa, dv_, weights, d_out);
        issue_by_tile<Scalar>(isa, dk_, d_scores, queries);
        isa.warpgroup_commit();
        isa.warpgroup_wait(weights, d_scores, dk_, dv_);
    }

    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void finish(const Isa& isa, const UnitHeader& header, int buffer) {
        store_key_gradients<warpgroup_head_dim, Scalar>(isa, a_, header.unit, header.sample, row_of(isa),
                                                        shared_.unit_tile(buffer, 0),
                                                        shared_.unit_tile(buffer, 1), dk_, dv_);
    }

private:
    const Arguments& a_;
    const Shared& shared_;
    Accumulator dk_[8], dv_[8];
};

}  // namespace bigbird::attention::cuda
