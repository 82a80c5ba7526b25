// SPDX-License-Identifier: Apache-2.0
// The kernels between the matrix products, and their launches.
#include "bigbird/attention/cuda/elementwise.hpp"
#include "bigbird/attention/cuda/launches.cuh"
#include "bigbird/attention/cuda/ptx_machine.cuh"

namespace bigbird::attention::cuda {

namespace {

/// Thread blocks that keep any GPU busy, of kernels that go through rows in steps of the grid.
constexpr int busy_blocks = 2048;

template <typename Scalar>
__global__ void __launch_bounds__(threads_per_block)
    norm_forward_entry(const __grid_constant__ NormArguments a) {
    norm_forward_kernel<Scalar>(PtxMachine{}, a);
}
template <typename Scalar>
__global__ void __launch_bounds__(threads_per_block)
    norm_backward_entry(const __grid_constant__ NormArguments a) {
    norm_backward_kernel<Scalar>(PtxMachine{}, a);
}
template <typename Scalar>
__global__ void __launch_bounds__(threads_per_block)
    gelu_forward_entry(const __grid_constant__ GeluArguments a) {
    gelu_forward_kernel<Scalar>(PtxMachine{}, a);
}
template <typename Scalar>
__global__ void __launch_bounds__(threads_per_block)
    gelu_backward_entry(const __grid_constant__ GeluArguments a) {
    gelu_backward_kernel<Scalar>(PtxMachine{}, a);
}
__global__ void __launch_bounds__(threads_per_block)
    sum_parts_entry(const float* parts, int part_count, int columns, float* first, float* second) {
    sum_parts_kernel(PtxMachine{}, parts, part_count, columns, first, second);
}

int blocks_for(int items, int of_block) {
    return (items + of_block - 1) / of_block;
}

bool is_valid(const NormArguments& a) {
    return a.columns % 8 == 0 && a.columns <= largest_norm;
}

template <typename Scalar>
void launch_norm_forward(Launches& launches, const NormArguments& a) {
    const int blocks = blocks_for(a.rows, warps_per_block);
    launches.launch({blocks < busy_blocks ? blocks : busy_blocks}, norm_forward_entry<Scalar>, a);
}
template <typename Scalar>
void launch_norm_backward(Launches& launches, const NormArguments& a) {
    launches.launch({a.part_count, threads_per_block, norm_backward_shared(a.columns)},
                    norm_backward_entry<Scalar>, a);
    launches.launch({blocks_for(2 * a.columns, threads_per_block)}, sum_parts_entry,
                    static_cast<const float*>(a.parts), a.part_count, a.columns, a.d_weight, a.d_bias);
}
template <typename Scalar>
void launch_gelu_forward(Launches& launches, const GeluArguments& a) {
    const int strips = gelu_strips(a.columns), groups = busy_blocks / strips;
    launches.launch({strips * (a.rows < groups ? a.rows : groups)}, gelu_forward_entry<Scalar>, a);
}
template <typename Scalar>
void launch_gelu_backward(Launches& launches, const GeluArguments& a) {
    launches.launch({gelu_strips(a.columns) * a.part_count}, gelu_backward_entry<Scalar>, a);
    launches.launch({blocks_for(a.columns, threads_per_block)}, sum_parts_entry,
                    static_cast<const float*>(a.parts), a.part_count, a.columns, a.d_bias,
                    static_cast<float*>(nullptr));
}

}  // namespace

int norm_forward(const NormArguments& a, void* stream) {
    Launches launches(stream);
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    a.element == Element::bf16 ? launch_norm_forward<Bf16>(launches, a)
                               : launch_norm_forward<Fp16>(launches, a);
    return launches.error();
}

int norm_backward(const NormArguments& a, void* stream) {
    Launches launches(stream);
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    a.element == Element::bf16 ? launch_norm_backward<Bf16>(launches, a)
                               : launch_norm_backward<Fp16>(launches, a);
    return launches.error();
}

int gelu_forward(const GeluArguments& a, void* stream) {
    Launches launches(stream);
    if (a.columns % 8 != 0) {
        return cudaErrorInvalidValue;
    }
    a.element == Element::bf16 ? launch_gelu_forward<Bf16>(launches, a)
                               : launch_gelu_forward<Fp16>(launches, a);
    return launches.error();
}

int gelu_backward(const GeluArguments& a, void* stream) {
    Launches launches(stream);
    if (a.columns % 8 != 0) {
        return cudaErrorInvalidValue;
    }
    a.element == Element::bf16 ? launch_gelu_backward<Bf16>(launches, a)
                               : launch_gelu_backward<Fp16>(launches, a);
    return launches.error();
}

}  // namespace bigbird::attention::cuda
