// SPDX-License-Identifier: Apache-2.0
// Launching kernels (attention_launches.hpp) on a GPU.
#pragma once

#include "bigbird/attention/cuda/device/tiles.hpp"
#include "bigbird/attention/cuda/kernels.hpp"

#include <cuda_runtime_api.h>

namespace bigbird::attention::cuda {

template <DeviceIsa Isa, typename Kernel>
__global__ void __launch_bounds__(Kernel::threads, Kernel::resident)
    enter(const __grid_constant__ typename Kernel::Parameters parameters) {
    if constexpr (requires { Isa(parameters.waits); }) {
        Kernel::run(Isa(parameters.waits), parameters);
    } else {
        Kernel::run(Isa{}, parameters);
    }
}

/// Launches in order on one stream; the first error ends it.
class Launches {
public:
    explicit Launches(void* stream) : stream_(static_cast<cudaStream_t>(stream)) {}

    template <DeviceIsa Isa, typename Kernel>
    void launch(int blocks, int shared_bytes, const typename Kernel::Parameters& parameters) {
        if (error_ != cudaSuccess || blocks == 0) return;
        if (shared_bytes > 48 * 1024) {
            error_ = cudaFuncSetAttribute(reinterpret_cast<const void*>(&enter<Isa, Kernel>),
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes);
        }
        if (error_ == cudaSuccess) {
            enter<Isa, Kernel><<<static_cast<unsigned>(blocks), Kernel::threads,
                                 static_cast<std::size_t>(shared_bytes), stream_>>>(parameters);
            error_ = cudaGetLastError();  // also clears the error for later calls
        }
    }
    /// Keeps the first error.
    void check(cudaError_t error) { error_ = error_ == cudaSuccess ? error : error_; }
    int error() const { return error_; }

private:
    cudaStream_t stream_;
    cudaError_t error_ = cudaSuccess;
};

/// A Launcher of kernels that are run by a Isa.
template <DeviceIsa Isa>
struct DeviceLauncher {
    Launches& launches;
    template <typename Kernel>
    void launch(int blocks, int shared_bytes, const typename Kernel::Parameters& parameters) {
        launches.template launch<Isa, Kernel>(blocks, shared_bytes, parameters);
    }
};

/// hopper_kernels.cu: warpgroup_launches.hpp.
void launch_hopper_forward(Launches& launches, const Arguments& arguments);
void launch_hopper_gradients(Launches& launches, const Arguments& arguments);
void launch_hang(Launches& launches);

/// elementwise_kernels.cu
int norm_forward(const NormArguments& arguments, void* stream);
int norm_backward(const NormArguments& arguments, void* stream);
int gelu_forward(const GeluArguments& arguments, void* stream);
int gelu_backward(const GeluArguments& arguments, void* stream);
int softmax_gradient(const SoftmaxArguments& arguments, void* stream);

}  // namespace bigbird::attention::cuda
