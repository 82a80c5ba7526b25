// SPDX-License-Identifier: Apache-2.0
// The library of CUDA kernels with each kernel run thread by thread on the CPU (simt.hpp): the same launches
// on tensors in ordinary memory.
#pragma once

#include "support/simt.hpp"

#include "bigbird/attention/cuda/device/attention_launches.hpp"
#include "bigbird/attention/cuda/device/elementwise_launches.hpp"
#include "bigbird/attention/cuda/device/hopper/warpgroup_launches.hpp"
#include "bigbird/attention/cuda/kernels.hpp"

#include <cstdint>

namespace bigbird::testing {

/// `seed` chooses the order of warps and copies.
struct EmulatedLauncher {
    using TileMap = attention::cuda::TileMapShape;
    std::uint64_t seed = 1;

    template <typename Kernel>
    void launch(int blocks, int shared_bytes, const typename Kernel::Parameters& parameters) {
        run_grid(
            blocks, Kernel::threads, static_cast<std::size_t>(shared_bytes), seed,
            [&](const SimtIsa& isa) { Kernel::run(isa, parameters); });
    }
    TileMap tile_map(const attention::cuda::TensorView& view, const attention::cuda::Arguments& a) const {
        return attention::cuda::tile_map_shape(view, a);
    }
};

template <int HeadDim, typename Scalar>
void emulate_forward(EmulatedLauncher& launcher, const attention::cuda::Arguments& a) {
    if constexpr (HeadDim == 64) {
        if (a.kernels == attention::cuda::KernelSet::hopper) {
            attention::cuda::launch_group_forward_units<Scalar>(launcher, a);
            attention::cuda::launch_forward_sums<HeadDim, Scalar>(launcher, a);
            return;
        }
    }
    attention::cuda::launch_forward_units<HeadDim, Scalar>(launcher, a);
    attention::cuda::launch_forward_sums<HeadDim, Scalar>(launcher, a);
}

template <int HeadDim, typename Scalar>
void emulate_backward(EmulatedLauncher& launcher, const attention::cuda::Arguments& a) {
    attention::cuda::launch_deltas<HeadDim, Scalar>(launcher, a);
    bool by_groups = false;
    if constexpr (HeadDim == 64) {
        by_groups = a.kernels == attention::cuda::KernelSet::hopper;
        if (by_groups) attention::cuda::launch_group_gradient_units<Scalar>(launcher, a);
    }
    if (!by_groups) attention::cuda::launch_gradient_units<HeadDim, Scalar>(launcher, a);
    attention::cuda::launch_gradient_sums<HeadDim, Scalar>(launcher, a);
}

/// A function of the library that launches its kernels in the emulation.
template <typename Arguments, auto launch>
int by_emulation(const Arguments& a, void*) {
    EmulatedLauncher launcher;
    launch(launcher, a);
    return 0;
}

/// Bfloat16 and heads of size 64, so that what includes this does not compile all.
inline const attention::cuda::KernelTable& emulated_kernels() {
    namespace cuda = attention::cuda;
    static const cuda::KernelTable table{
        .version = cuda::kernel_table_version,
        .error_text = [](int) { return "error"; },
        .supports = [](cuda::KernelSet, int head_dim) { return head_dim == 64; },
        .runs = [](cuda::KernelSet) { return true; },
        .persistent_blocks = [](int) { return 2; },
        .forward = by_emulation<cuda::Arguments, emulate_forward<64, cuda::Bf16>>,
        .backward = by_emulation<cuda::Arguments, emulate_backward<64, cuda::Bf16>>,
        .norm_forward =
            by_emulation<cuda::NormArguments, cuda::launch_norm_forward<cuda::Bf16, EmulatedLauncher>>,
        .norm_backward =
            by_emulation<cuda::NormArguments, cuda::launch_norm_backward<cuda::Bf16, EmulatedLauncher>>,
        .gelu_forward =
            by_emulation<cuda::GeluArguments, cuda::launch_gelu_forward<cuda::Bf16, EmulatedLauncher>>,
        .gelu_backward =
            by_emulation<cuda::GeluArguments, cuda::launch_gelu_backward<cuda::Bf16, EmulatedLauncher>>,
        .softmax_gradient =
            by_emulation<cuda::SoftmaxArguments, cuda::launch_softmax_gradient<cuda::Bf16, EmulatedLauncher>>,
        .hang = [](void*) { return 1; }};
    return table;
}

}  // namespace bigbird::testing
