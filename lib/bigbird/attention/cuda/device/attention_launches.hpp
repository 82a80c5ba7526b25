// SPDX-License-Identifier: Apache-2.0
// What the attention passes launch, in which order and on which grids: once for GPUs and for their emulation.
// A `Launcher` has launch<Kernel>(blocks, shared_bytes, parameters); a Kernel has its Parameters, `threads` a
// block, `resident` blocks a multiprocessor for which registers must do, and run(isa, parameters).
#pragma once

#include "bigbird/attention/cuda/device/backward.hpp"
#include "bigbird/attention/cuda/device/forward.hpp"
#include "bigbird/attention/cuda/device/key_gradient.hpp"
#include "bigbird/attention/cuda/device/query_gradient.hpp"

namespace bigbird::attention::cuda {

template <int HeadDim, typename Scalar>
struct ForwardKernel {
    using Parameters = Arguments;
    static constexpr int threads = threads_per_block, resident = 2;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        forward_kernel<HeadDim, Scalar>(isa, a);
    }
};
template <int HeadDim, typename Scalar>
struct CombineKernel {
    using Parameters = Arguments;
    static constexpr int threads = threads_per_block, resident = 1;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        combine_kernel<HeadDim, Scalar>(isa, a);
    }
};
template <int HeadDim, typename Scalar>
struct DeltaKernel {
    using Parameters = Arguments;
    static constexpr int threads = threads_per_block, resident = 1;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        delta_kernel<HeadDim, Scalar>(isa, a);
    }
};
template <int HeadDim, typename Scalar>
struct QueryGradientKernel {
    using Parameters = Arguments;
    static constexpr int threads = threads_per_block, resident = 2;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        query_gradient_kernel<HeadDim, Scalar>(isa, a);
    }
};
template <int HeadDim, typename Scalar>
struct KeyGradientKernel {
    using Parameters = Arguments;
    static constexpr int threads = threads_per_block, resident = HeadDim > 64 ? 1 : 3;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        key_gradient_kernel<HeadDim, Scalar>(isa, a);
    }
};
template <int HeadDim, typename Scalar, int Sides>
struct AddPartsKernel {
    using Parameters = Arguments;
    static constexpr int threads = threads_per_block, resident = 1;
    template <DeviceIsa Isa>
    BIGBIRD_DEVICE static void run(const Isa& isa, const Arguments& a) {
        add_parts_kernel<HeadDim, Scalar>(isa, a, Sides == 1 ? a.queries : a.keys, Sides);
    }
};

/// The units of the forward pass, and of the gradients, on GPUs of compute capability 8.0 and up.
template <int HeadDim, typename Scalar, typename Launcher>
void launch_forward_units(Launcher& launcher, const Arguments& a) {
    launcher.template launch<ForwardKernel<HeadDim, Scalar>>(a.samples * a.queries.unit_count,
                                                             ForwardShared<HeadDim>::bytes, a);
}
template <int HeadDim, typename Scalar, typename Launcher>
void launch_gradient_units(Launcher& launcher, const Arguments& a) {
    if (a.gradients != Gradients::of_keys) {
        launcher.template launch<QueryGradientKernel<HeadDim, Scalar>>(
            a.samples * a.queries.unit_count, QueryGradientShared<HeadDim>::bytes, a);
    }
    if (a.gradients != Gradients::of_queries) {
        launcher.template launch<KeyGradientKernel<HeadDim, Scalar>>(a.samples * a.keys.unit_count,
                                                                     KeyGradientShared<HeadDim>::bytes, a);
    }
}

/// What comes after the units and, backward, before them, whatever kernels those are.
template <int HeadDim, typename Scalar, typename Launcher>
void launch_forward_sums(Launcher& launcher, const Arguments& a) {
    launcher.template launch<CombineKernel<HeadDim, Scalar>>(
        a.samples * a.queries.sum_count * SumGrid<HeadDim>::blocks, 0, a);
}
template <int HeadDim, typename Scalar, typename Launcher>
void launch_deltas(Launcher& launcher, const Arguments& a) {
    launcher.template launch<DeltaKernel<HeadDim, Scalar>>(a.samples * a.heads * a.tiling.tiles, 0, a);
}
template <int HeadDim, typename Scalar, typename Launcher>
void launch_gradient_sums(Launcher& launcher, const Arguments& a) {
    constexpr int blocks = SumGrid<HeadDim>::blocks;
    if (a.gradients != Gradients::of_keys) {
        launcher.template launch<AddPartsKernel<HeadDim, Scalar, 1>>(a.samples * a.queries.sum_count * blocks,
                                                                     0, a);
    }
    if (a.gradients != Gradients::of_queries) {
        launcher.template launch<AddPartsKernel<HeadDim, Scalar, 2>>(
            a.samples * a.keys.sum_count * 2 * blocks, 0, a);
    }
}

}  // namespace bigbird::attention::cuda
