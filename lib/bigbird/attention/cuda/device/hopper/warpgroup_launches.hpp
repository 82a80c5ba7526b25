// SPDX-License-Identifier: Apache-2.0
// The launches of Hopper's kernels (attention_launches.hpp has the ones before and after them). Their
// `Launcher` also has TileMap and tile_map(view, arguments).
#pragma once

#include "bigbird/attention/cuda/device/forward.hpp"
#include "bigbird/attention/cuda/device/hopper/pipeline.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_tiles.hpp"
#include "bigbird/attention/cuda/device/key_gradient.hpp"
#include "bigbird/attention/cuda/device/query_gradient.hpp"

namespace bigbird::attention::cuda {

// Attention forward by products of four warps (warpgroup_tiles.hpp): the units of forward.hpp, one group of
// warps per query tile.

/// A unit's tiles are the queries of both sides.
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

    /// Processes a key tile for the group's 64 queries.
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void step(const Isa& isa, const TileBias& bias, int buffer, int step_buffer) {
        Accumulator scores[1][8];
        isa.warpgroup_fence(scores[0]);
        issue_rows_by_rows<Scalar>(isa, scores[0], shared_.unit_tile(buffer, side_),
                                   shared_.step_tile(step_buffer, 0));
        isa.warpgroup_commit();
        isa.warpgroup_wait(scores[0]);
        if (!bias.is_plain) add_element_biases<warpgroup_head_dim>(isa, a_.tiling, bias, row_of(isa), scores);
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

// dq by products of four warps (warpgroup_tiles.hpp): the units of query_gradient.hpp, one group of warps per
// query tile.

/// A unit's tiles are the queries of both sides, then their d_out.
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
        for (Accumulator& sum : dq_)
            sum = {};
        const int tile = of_side(header.unit.tile, side_);
        const std::int64_t sums = row_place(a_, header.sample, header.unit.head, tile >= 0 ? tile : 0) +
                                  row_of(isa) + isa.lane() / 4;
        BIGBIRD_UNROLL
        for (int half = 0; half < 2; ++half) {
            lse_[half] = a_.lse[sums + 8 * half];
            delta_[half] = a_.delta[sums + 8 * half];
        }
    }

    /// Processes a key tile for the group's 64 queries.
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

    /// Writes the warp's 16 rows of dq, or partial sums of them if the list was split.
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE void finish(const Isa& isa, const UnitHeader& header, int buffer) {
        const Unit unit = header.unit;
        if (of_side(unit.tile, side_) < 0) return;
        store_query_gradients<warpgroup_head_dim, Scalar>(isa, a_, unit, header.sample, side_, row_of(isa),
                                                          shared_.unit_tile(buffer, side_), dq_);
    }

private:
    const Arguments& a_;
    const Shared& shared_;
    int side_;
    float lse_[2], delta_[2];  // for the lane's two queries, rows g and g + 8
    Accumulator dq_[8];
};

// dk and dv by products of four warps (warpgroup_tiles.hpp): the units of key_gradient.hpp, one key tile per
// group, keys as rows.

/// A unit's tiles are keys and values. A step's tiles are queries and d_out; its sums are their lse and
/// delta.
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

    /// Processes a query tile for the group's 64 keys.
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

/// Hopper's kernels; `hang` is for tests.
enum class PipelineKernel : int { forward, query_gradient, key_gradient, hang };

/// Threads of a block: its teams' groups and the producer group.
template <typename Shape>
inline constexpr int pipeline_threads = (Shape::teams * Shape::groups + 1) * warpgroup_threads;

template <typename S, typename Map, PipelineKernel Which>
struct PipelineKernelShape : KernelShape<WarpgroupArguments<Map>, pipeline_threads<S>> {
    using Shape = S;
    static constexpr PipelineKernel kernel = Which;
};

template <typename Scalar, typename Map>
struct WarpgroupForwardKernel : PipelineKernelShape<WarpgroupForwardShape, Map, PipelineKernel::forward> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const WarpgroupArguments<Map>& p) {
        using Shape = WarpgroupForwardShape;
        run_pipeline<Shape, QueryUnitLoads<Isa, Map, Shape>, WarpgroupForward<Scalar>>(isa, p, p.a.queries);
    }
};
template <typename Scalar, typename Map>
struct WarpgroupQueryGradientKernel
    : PipelineKernelShape<WarpgroupQueryGradientShape, Map, PipelineKernel::query_gradient> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const WarpgroupArguments<Map>& p) {
        using Shape = WarpgroupQueryGradientShape;
        run_pipeline<Shape, QueryUnitLoads<Isa, Map, Shape>, WarpgroupQueryGradient<Scalar>>(isa, p,
                                                                                             p.a.queries);
    }
};
template <typename Scalar, typename Map>
struct WarpgroupKeyGradientKernel
    : PipelineKernelShape<WarpgroupKeyGradientShape, Map, PipelineKernel::key_gradient> {
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const WarpgroupArguments<Map>& p) {
        run_pipeline<WarpgroupKeyGradientShape, KeyUnitLoads<Isa, Map>, WarpgroupKeyGradient<Scalar>>(
            isa, p, p.a.keys);
    }
};

template <typename Kernel, typename Launcher>
void launch_pipeline(Launcher& launcher, const UnitList& list, const typename Kernel::Parameters& p) {
    using Shape = typename Kernel::Shape;
    constexpr int bytes = Shape::teams * PipelineShared<Shape>::bytes,
                  groups = Kernel::threads / warpgroup_threads;
    static_assert(bytes <= 227 * 1024, "what a thread block of compute capability 9.0 can have");
    constexpr int registers_at_start = 512 / groups / 8 * 8;  // per lane: 65536 in all, in multiples of 8
    static_assert((groups - 1) * Shape::registers + Shape::producer_registers <= groups * registers_at_start,
                  "registers are given before they are taken");
    launcher.template launch<Kernel>(list.team_count / Shape::teams, bytes, p);
}

template <typename Scalar, typename Launcher>
void launch_group_forward_units(Launcher& launcher, const Arguments& a) {
    if (a.samples == 0)  // empty tensors cannot have maps
        return;
    using Map = typename Launcher::TileMap;
    const WarpgroupArguments<Map> p{a, launcher.tile_map(a.q, a), launcher.tile_map(a.k, a),
                                    launcher.tile_map(a.v, a), Map{}};
    launch_pipeline<WarpgroupForwardKernel<Scalar, Map>>(launcher, a.queries, p);
}
template <typename Scalar, typename Launcher>
void launch_group_gradient_units(Launcher& launcher, const Arguments& a) {
    if (a.samples == 0)  // empty tensors cannot have maps
        return;
    using Map = typename Launcher::TileMap;
    const WarpgroupArguments<Map> p{a, launcher.tile_map(a.q, a), launcher.tile_map(a.k, a),
                                    launcher.tile_map(a.v, a), launcher.tile_map(a.d_out, a)};
    if (a.gradients != Gradients::of_keys)
        launch_pipeline<WarpgroupQueryGradientKernel<Scalar, Map>>(launcher, a.queries, p);
    if (a.gradients != Gradients::of_queries)
        launch_pipeline<WarpgroupKeyGradientKernel<Scalar, Map>>(launcher, a.keys, p);
}

}  // namespace bigbird::attention::cuda
