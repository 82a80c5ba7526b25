// SPDX-License-Identifier: Apache-2.0
// The attention kernels for Hopper (wgmma), heads of size 64, and their launches. What goes before and after
// them is attention_kernels.cu's.
#include "bigbird/attention/cuda/group_backward.hpp"
#include "bigbird/attention/cuda/group_forward.hpp"
#include "bigbird/attention/cuda/group_machine.cuh"
#include "bigbird/attention/cuda/launches.cuh"

namespace bigbird::attention::cuda {

namespace {

template <typename Scalar>
__global__ void __launch_bounds__(2 * group_threads, 2)
    hopper_forward_kernel(const __grid_constant__ Arguments a) {
    group_forward_kernel<Scalar>(GroupMachine{}, a);
}
template <typename Scalar>
__global__ void __launch_bounds__(2 * group_threads, 2)
    hopper_query_gradient_kernel(const __grid_constant__ Arguments a) {
    group_query_gradient_kernel<Scalar>(GroupMachine{}, a);
}
template <typename Scalar>
__global__ void __launch_bounds__(group_threads, 3)
    hopper_key_gradient_kernel(const __grid_constant__ Arguments a) {
    group_key_gradient_kernel<Scalar>(GroupMachine{}, a);
}

template <typename Scalar>
void launch_gradients(Launches& launches, const Arguments& a) {
    launches.launch(
        {a.samples * a.queries.unit_count, 2 * group_threads, QueryGradientShared<group_head_dim>::bytes},
        hopper_query_gradient_kernel<Scalar>, a);
    launches.launch({a.samples * a.keys.unit_count, group_threads, GroupKeyShared::bytes},
                    hopper_key_gradient_kernel<Scalar>, a);
}

}  // namespace

void launch_hopper_forward(Launches& launches, const Arguments& a) {
    const Grid grid{a.samples * a.queries.unit_count, 2 * group_threads,
                    ForwardShared<group_head_dim>::bytes};
    if (a.element == Element::bf16) {
        launches.launch(grid, hopper_forward_kernel<Bf16>, a);
    } else {
        launches.launch(grid, hopper_forward_kernel<Fp16>, a);
    }
}

void launch_hopper_gradients(Launches& launches, const Arguments& a) {
    a.element == Element::bf16 ? launch_gradients<Bf16>(launches, a) : launch_gradients<Fp16>(launches, a);
}

}  // namespace bigbird::attention::cuda
