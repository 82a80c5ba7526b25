// SPDX-License-Identifier: Apache-2.0
// The launches of Hopper's kernels (attention_launches.hpp has those around them). Their `Launcher` has
// besides TileMap and tile_map(view, arguments).
#pragma once

#include "bigbird/attention/cuda/device/hopper/warpgroup_forward.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_key_gradient.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_query_gradient.hpp"

namespace bigbird::attention::cuda {

/// Hopper's kernels; `hang` is for tests.
enum class PipelineKernel : int { forward, query_gradient, key_gradient, hang };

/// Threads of a block: the groups of its teams, and that of the producers.
template <typename Shape>
inline constexpr int pipeline_threads = (Shape::teams * Shape::groups + 1) * warpgroup_threads;

template <typename Scalar, typename Map>
struct WarpgroupForwardKernel {
    using Parameters = WarpgroupArguments<Map>;
    using Shape = WarpgroupForwardShape;
    static constexpr PipelineKernel kernel = PipelineKernel::forward;
    static constexpr int threads = pipeline_threads<Shape>, resident = 1;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Parameters& p) {
        run_pipeline<Shape, QueryUnitLoads<Isa, Map, Shape>, WarpgroupForward<Scalar>>(isa, p, p.a.queries);
    }
};
template <typename Scalar, typename Map>
struct WarpgroupQueryGradientKernel {
    using Parameters = WarpgroupArguments<Map>;
    using Shape = WarpgroupQueryGradientShape;
    static constexpr PipelineKernel kernel = PipelineKernel::query_gradient;
    static constexpr int threads = pipeline_threads<Shape>, resident = 1;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Parameters& p) {
        run_pipeline<Shape, QueryUnitLoads<Isa, Map, Shape>, WarpgroupQueryGradient<Scalar>>(isa, p,
                                                                                             p.a.queries);
    }
};
template <typename Scalar, typename Map>
struct WarpgroupKeyGradientKernel {
    using Parameters = WarpgroupArguments<Map>;
    using Shape = WarpgroupKeyGradientShape;
    static constexpr PipelineKernel kernel = PipelineKernel::key_gradient;
    static constexpr int threads = pipeline_threads<Shape>, resident = 1;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Parameters& p) {
        run_pipeline<Shape, KeyUnitLoads<Isa, Map>, WarpgroupKeyGradient<Scalar>>(isa, p, p.a.keys);
    }
};

template <typename Kernel, typename Launcher>
void launch_pipeline(Launcher& launcher, const UnitList& list, const typename Kernel::Parameters& p) {
    using Shape = typename Kernel::Shape;
    constexpr int bytes = Shape::teams * PipelineShared<Shape>::bytes,
                  groups = Kernel::threads / warpgroup_threads;
    static_assert(bytes <= 227 * 1024, "what a thread block of compute capability 9.0 can have");
    constexpr int registers_at_start = 512 / groups / 8 * 8;  // of a lane: 65536 in all, by multiples of 8
    static_assert((groups - 1) * Shape::registers + Shape::producer_registers <= groups * registers_at_start,
                  "registers are given before they are taken");
    launcher.template launch<Kernel>(list.team_count / Shape::teams, bytes, p);
}

template <typename Scalar, typename Launcher>
void launch_group_forward_units(Launcher& launcher, const Arguments& a) {
    if (a.samples == 0) {  // there are no maps of nothing
        return;
    }
    using Map = typename Launcher::TileMap;
    const WarpgroupArguments<Map> p{a, launcher.tile_map(a.q, a), launcher.tile_map(a.k, a),
                                    launcher.tile_map(a.v, a), Map{}};
    launch_pipeline<WarpgroupForwardKernel<Scalar, Map>>(launcher, a.queries, p);
}
template <typename Scalar, typename Launcher>
void launch_group_gradient_units(Launcher& launcher, const Arguments& a) {
    if (a.samples == 0) {  // there are no maps of nothing
        return;
    }
    using Map = typename Launcher::TileMap;
    const WarpgroupArguments<Map> p{a, launcher.tile_map(a.q, a), launcher.tile_map(a.k, a),
                                    launcher.tile_map(a.v, a), launcher.tile_map(a.d_out, a)};
    if (a.gradients != Gradients::of_keys) {
        launch_pipeline<WarpgroupQueryGradientKernel<Scalar, Map>>(launcher, a.queries, p);
    }
    if (a.gradients != Gradients::of_queries) {
        launch_pipeline<WarpgroupKeyGradientKernel<Scalar, Map>>(launcher, a.keys, p);
    }
}

}  // namespace bigbird::attention::cuda
