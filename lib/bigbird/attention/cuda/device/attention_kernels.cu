// SPDX-License-Identifier: Apache-2.0
// The attention kernels for compute capability 8.0 and up (mma.sync), and the library's table.
#include "bigbird/attention/cuda/device/attention_launches.hpp"
#include "bigbird/attention/cuda/device/launches.cuh"
#include "bigbird/attention/cuda/device/ptx_isa.cuh"
#include "bigbird/attention/cuda/kernels.hpp"

namespace bigbird::attention::cuda {

namespace {

template <int HeadDim, typename Scalar>
int launch_forward(const Arguments& a, void* stream) {
    Launches launches(stream);
    DeviceLauncher<PtxIsa> launcher{launches};
    if (a.kernels == KernelSet::hopper) {
        launch_hopper_forward(launches, a);
    } else {
        launch_forward_units<HeadDim, Scalar>(launcher, a);
    }
    launch_forward_sums<HeadDim, Scalar>(launcher, a);
    return launches.error();
}

template <int HeadDim, typename Scalar>
int launch_backward(const Arguments& a, void* stream) {
    Launches launches(stream);
    DeviceLauncher<PtxIsa> launcher{launches};
    launch_deltas<HeadDim, Scalar>(launcher, a);
    if (a.kernels == KernelSet::hopper) {
        launch_hopper_gradients(launches, a);
    } else {
        launch_gradient_units<HeadDim, Scalar>(launcher, a);
    }
    launch_gradient_sums<HeadDim, Scalar>(launcher, a);
    return launches.error();
}

bool supports(KernelSet kernels, int head_dim) {
    if (kernels == KernelSet::hopper) {
        return head_dim == 64;
    }
#if defined(BIGBIRD_ALL_KERNELS)
    return head_dim == 32 || head_dim == 64 || head_dim == 128;
#else
    return head_dim == 64;
#endif
}

/// Whether the library has such kernels, and the lists that they go by are there.
bool is_valid(const Arguments& a) {
    const bool has_teams = a.queries.team_first != nullptr && a.keys.team_first != nullptr;
    return supports(a.kernels, a.head_dim) && (a.kernels == KernelSet::general || has_teams);
}

int persistent_blocks(int device) {
    int multiprocessors = 1;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    return multiprocessors;
}

template <typename Scalar>
int forward_of(const Arguments& a, void* stream) {
#if defined(BIGBIRD_ALL_KERNELS)
    if (a.head_dim == 32) {
        return launch_forward<32, Scalar>(a, stream);
    }
    if (a.head_dim == 128) {
        return launch_forward<128, Scalar>(a, stream);
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
    if (a.head_dim == 128) {
        return launch_backward<128, Scalar>(a, stream);
    }
#endif
    return launch_backward<64, Scalar>(a, stream);
}

int forward(const Arguments& a, void* stream) {
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    return a.element == Element::bf16 ? forward_of<Bf16>(a, stream) : forward_of<Fp16>(a, stream);
}

int backward(const Arguments& a, void* stream) {
    if (!is_valid(a)) {
        return cudaErrorInvalidValue;
    }
    return a.element == Element::bf16 ? backward_of<Bf16>(a, stream) : backward_of<Fp16>(a, stream);
}

int hang(void* stream) {
    Launches launches(stream);
    launch_hang(launches);
    return launches.error();
}

const char* error_text(int error) {
    return cudaGetErrorString(static_cast<cudaError_t>(error));
}

}  // namespace

}  // namespace bigbird::attention::cuda

extern "C" const bigbird::attention::cuda::KernelTable* bigbird_cuda_kernels() {
    using namespace bigbird::attention::cuda;
    static const KernelTable table{.version = kernel_table_version,
                                   .error_text = error_text,
                                   .supports = supports,
                                   .persistent_blocks = persistent_blocks,
                                   .forward = forward,
                                   .backward = backward,
                                   .norm_forward = norm_forward,
                                   .norm_backward = norm_backward,
                                   .gelu_forward = gelu_forward,
                                   .gelu_backward = gelu_backward,
                                   .softmax_gradient = softmax_gradient,
                                   .hang = hang};
    return &table;
}
