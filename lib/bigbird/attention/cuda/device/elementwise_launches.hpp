// SPDX-License-Identifier: Apache-2.0
// The launches of the kernels between the matrix products; attention_launches.hpp defines a Launcher.
#pragma once

#include "bigbird/attention/cuda/device/elementwise.hpp"

namespace bigbird::attention::cuda {

/// Number of thread blocks that keeps any GPU busy, for kernels that process rows in steps of the grid size.
inline constexpr int busy_blocks = 2048;

constexpr int blocks_for(int items, int of_block) {
    return (items + of_block - 1) / of_block;
}

inline bool is_valid(const NormArguments& a) {
    return a.columns % 8 == 0 && a.columns <= largest_norm;
}
template <typename Arguments>
bool is_valid(const Arguments& a) {
    return a.columns % 8 == 0;
}

template <typename Scalar, typename Launcher>
void launch_norm_forward(Launcher& launcher, const NormArguments& a) {
    const int blocks = blocks_for(a.rows, warps_per_block);
    launcher.template launch<NormForwardKernel<Scalar>>(blocks < busy_blocks ? blocks : busy_blocks, 0, a);
}
template <typename Launcher>
void launch_sum_parts(Launcher& launcher, const SumPartsKernel::Parameters& p) {
    launcher.template launch<SumPartsKernel>(blocks_for(p.width(), warp_lanes), sum_shared, p);
}
template <typename Scalar, typename Launcher>
void launch_norm_backward(Launcher& launcher, const NormArguments& a) {
    launcher.template launch<NormBackwardKernel<Scalar>>(a.part_count, norm_backward_shared(a.columns), a);
    launch_sum_parts(launcher, {a.parts, a.part_count, a.columns, a.d_weight, a.d_bias});
}
template <typename Scalar, typename Launcher>
void launch_gelu_forward(Launcher& launcher, const GeluArguments& a) {
    const int strips = gelu_strips(a.columns), groups = busy_blocks / strips;
    launcher.template launch<GeluForwardKernel<Scalar>>(strips * (a.rows < groups ? a.rows : groups), 0, a);
}
template <typename Scalar, typename Launcher>
void launch_gelu_backward(Launcher& launcher, const GeluArguments& a) {
    launcher.template launch<GeluBackwardKernel<Scalar>>(gelu_strips(a.columns) * a.part_count, 0, a);
    launch_sum_parts(launcher, {a.parts, a.part_count, a.columns, a.d_bias, nullptr});
}

template <typename Scalar, typename Launcher>
void launch_softmax_gradient(Launcher& launcher, const SoftmaxArguments& a) {
    launcher.template launch<SoftmaxKernel<Scalar>>(a.rows, softmax_shared, a);
}

}  // namespace bigbird::attention::cuda
