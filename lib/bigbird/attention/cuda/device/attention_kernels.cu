// SPDX-License-Identifier: Apache-2.0
// The attention kernels for compute capability 8.0 and up (mma.sync), and the library's table.
#include "bigbird/attention/cuda/device/attention_launches.hpp"
#include "bigbird/attention/cuda/device/launches.cuh"
#include "bigbird/attention/cuda/device/ptx_isa.cuh"
#include "bigbird/attention/cuda/kernels.hpp"

namespace bigbird::attention::cuda {

namespace {

struct ForwardPass {
    template <int HeadDim, typename Scalar>
    static void launch(Launches& launches, const Arguments& a) {
        DeviceLauncher<PtxIsa> launcher{launches};
        a.kernels == KernelSet::hopper ? launch_hopper_forward(launches, a)
                                       : launch_forward_units<HeadDim, Scalar>(launcher, a);
        launch_forward_sums<HeadDim, Scalar>(launcher, a);
    }
};

struct BackwardPass {
    template <int HeadDim, typename Scalar>
    static void launch(Launches& launches, const Arguments& a) {
        DeviceLauncher<PtxIsa> launcher{launches};
        launch_deltas<HeadDim, Scalar>(launcher, a);
        a.kernels == KernelSet::hopper ? launch_hopper_gradients(launches, a)
                                       : launch_gradient_units<HeadDim, Scalar>(launcher, a);
        launch_gradient_sums<HeadDim, Scalar>(launcher, a);
    }
};

bool supports(KernelSet kernels, int head_dim) {
    if (kernels == KernelSet::hopper) return head_dim == 64;
#if defined(BIGBIRD_ALL_KERNELS)
    return head_dim == 32 || head_dim == 64 || head_dim == 128;
#else
    return head_dim == 64;
#endif
}

bool runs(KernelSet kernels) {
    int device = 0, major = 0, minor = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device);
    cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device);
    return kernels == KernelSet::hopper ? major == 9 && minor == 0 : major >= 8;
}

/// Whether the library has such kernels, and their lists are given.
bool is_valid(const Arguments& a) {
    const bool has_teams = a.queries.team_first != nullptr && a.keys.team_first != nullptr;
    return supports(a.kernels, a.head_dim) && (a.kernels == KernelSet::general || has_teams);
}

int persistent_blocks(int device) {
    int multiprocessors = 1;
    cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, device);
    return multiprocessors;
}

template <typename Pass, typename Scalar>
void launch_pass(Launches& launches, const Arguments& a) {
#if defined(BIGBIRD_ALL_KERNELS)
    if (a.head_dim == 32) return Pass::template launch<32, Scalar>(launches, a);
    if (a.head_dim == 128) return Pass::template launch<128, Scalar>(launches, a);
#endif
    Pass::template launch<64, Scalar>(launches, a);
}

template <typename Pass>
int run_pass(const Arguments& a, void* stream) {
    if (!is_valid(a)) return cudaErrorInvalidValue;
    Launches launches(stream);
    a.element == Element::bf16 ? launch_pass<Pass, Bf16>(launches, a) : launch_pass<Pass, Fp16>(launches, a);
    return launches.error();
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
                                   .runs = runs,
                                   .persistent_blocks = persistent_blocks,
                                   .forward = run_pass<ForwardPass>,
                                   .backward = run_pass<BackwardPass>,
                                   .norm_forward = norm_forward,
                                   .norm_backward = norm_backward,
                                   .gelu_forward = gelu_forward,
                                   .gelu_backward = gelu_backward,
                                   .softmax_gradient = softmax_gradient,
                                   .hang = hang};
    return &table;
}
