// SPDX-License-Identifier: Apache-2.0
// The attention kernels for compute capability 8.0 and up (mma.sync), and their launches.
#include "bigbird/attention/cuda/backward.hpp"
#include "bigbird/attention/cuda/forward.hpp"
#include "bigbird/attention/cuda/kernels.hpp"
#include "bigbird/attention/cuda/key_gradient.hpp"
#include "bigbird/attention/cuda/launches.cuh"
#include "bigbird/attention/cuda/ptx_machine.cuh"
#include "bigbird/attention/cuda/query_gradient.hpp"

namespace bigbird::attention::cuda {

namespace {

template <int HeadDim, typename Scalar>
__global__ void __launch_bounds__(threads_per_block, 2)
    attention_forward_kernel(const __grid_constant__ Arguments a) {
    forward_kernel<HeadDim, Scalar>(PtxMachine{}, a);
}
template <int HeadDim, typename Scalar>
__global__ void __launch_bounds__(threads_per_block)
    attention_combine_kernel(const __grid_constant__ Arguments a) {
    combine_kernel<HeadDim, Scalar>(PtxMachine{}, a);
}
template <int HeadDim, typename Scalar>
__global__ void __launch_bounds__(threads_per_block)
    attention_delta_kernel(const __grid_constant__ Arguments a) {
    delta_kernel<HeadDim, Scalar>(PtxMachine{}, a);
}
template <int HeadDim, typename Scalar>
__global__ void __launch_bounds__(threads_per_block, 2)
    attention_query_gradient_kernel(const __grid_constant__ Arguments a) {
    query_gradient_kernel<HeadDim, Scalar>(PtxMachine{}, a);
}
template <int HeadDim, typename Scalar>
__global__ void __launch_bounds__(threads_per_block, 3)
    attention_key_gradient_kernel(const __grid_constant__ Arguments a) {
    key_gradient_kernel<HeadDim, Scalar>(PtxMachine{}, a);
}
template <int HeadDim, typename Scalar>
__global__ void __launch_bounds__(threads_per_block)
    attention_add_parts_kernel(const __grid_constant__ Arguments a, int sides) {
    add_parts_kernel<HeadDim, Scalar>(PtxMachine{}, a, sides == 1 ? a.queries : a.keys, sides);
}

template <int HeadDim, typename Scalar>
int launch_forward(const Arguments& a, void* stream) {
    Launches launches(stream);
    if (a.kernels == KernelSet::hopper) {
        launch_hopper_forward(launches, a);
    } else {
        launches.launch({a.samples * a.queries.unit_count, threads_per_block, ForwardShared<HeadDim>::bytes},
                        attention_forward_kernel<HeadDim, Scalar>, a);
    }
    launches.launch({a.samples * a.queries.sum_count}, attention_combine_kernel<HeadDim, Scalar>, a);
    return launches.error();
}

template <int HeadDim, typename Scalar>
int launch_backward(const Arguments& a, void* stream) {
    Launches launches(stream);
    launches.launch({a.samples * a.heads * a.tiling.tiles}, attention_delta_kernel<HeadDim, Scalar>, a);
    if (a.kernels == KernelSet::hopper) {
        launch_hopper_gradients(launches, a);
    } else {
        launches.launch(
            {a.samples * a.queries.unit_count, threads_per_block, QueryGradientShared<HeadDim>::bytes},
            attention_query_gradient_kernel<HeadDim, Scalar>, a);
        launches.launch({a.samples * a.keys.unit_count, threads_per_block, KeyGradientShared<HeadDim>::bytes},
                        attention_key_gradient_kernel<HeadDim, Scalar>, a);
    }
    launches.launch({a.samples * a.queries.sum_count}, attention_add_parts_kernel<HeadDim, Scalar>, a, 1);
    launches.launch({a.samples * a.keys.sum_count * 2}, attention_add_parts_kernel<HeadDim, Scalar>, a, 2);
    return launches.error();
}

bool supports(KernelSet kernels, int head_dim) {
    if (kernels == KernelSet::hopper) {
        return head_dim == 64;
    }
#if defined(BIGBIRD_ALL_KERNELS)
    return head_dim == 32 || head_dim == 64;
#else
    return head_dim == 64;
#endif
}

template <typename Scalar>
int forward_of(const Arguments& a, void* stream) {
#if defined(BIGBIRD_ALL_KERNELS)
    if (a.head_dim == 32) {
        return launch_forward<32, Scalar>(a, stream);
    }
#endif
    return launch_forward<64, Scalar>(a, stream);
}

template <typename Scalar>
int backward_of(const Arguments& a, void* stream) {
#if defined(BIGBIRD_ALL_KERNELS)
    if (a.head_dim == 32) {
        return launch_backward<32, Scalar>(a, stream);
    }
#endif
    return launch_backward<64, Scalar>(a, stream);
}

int forward(const Arguments& a, void* stream) {
    if (!supports(a.kernels, a.head_dim)) {
        return cudaErrorInvalidValue;
    }
    return a.element == Element::bf16 ? forward_of<Bf16>(a, stream) : forward_of<Fp16>(a, stream);
}

int backward(const Arguments& a, void* stream) {
    if (!supports(a.kernels, a.head_dim)) {
        return cudaErrorInvalidValue;
    }
    return a.element == Element::bf16 ? backward_of<Bf16>(a, stream) : backward_of<Fp16>(a, stream);
}

const char* error_text(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

}  // namespace

}  // namespace bigbird::attention::cuda

extern "C" const bigbird::attention::cuda::KernelTable* bigbird_cuda_kernels() {
    using namespace bigbird::attention::cuda;
    static const KernelTable table{kernel_table_version, error_text,    supports,     forward,      backward,
                                   norm_forward,         norm_backward, gelu_forward, gelu_backward};
    return &table;
}
