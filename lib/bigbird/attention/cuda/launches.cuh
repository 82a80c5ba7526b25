// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/cuda/elementwise_arguments.hpp"
#include "bigbird/attention/cuda/tiles.hpp"

#include <cuda_runtime_api.h>

namespace bigbird::attention::cuda {

/// The shape of a launch; shared memory in bytes.
struct Grid {
    int blocks, threads = threads_per_block, shared_bytes = 0;
};

/// Launches in order on one stream; the first error ends it.
class Launches {
public:
    explicit Launches(void* stream) : stream_(static_cast<cudaStream_t>(stream)) {}

    template <typename... Parameters, typename... Values>
    void launch(const Grid& grid, void (*kernel)(Parameters...), const Values&... values) {
        if (error_ != cudaSuccess || grid.blocks == 0) {
            return;
        }
        if (grid.shared_bytes > 48 * 1024) {
            error_ = cudaFuncSetAttribute(reinterpret_cast<const void*>(kernel),
                                          cudaFuncAttributeMaxDynamicSharedMemorySize, grid.shared_bytes);
        }
        if (error_ == cudaSuccess) {
            kernel<<<static_cast<unsigned>(grid.blocks), static_cast<unsigned>(grid.threads),
                     static_cast<std::size_t>(grid.shared_bytes), stream_>>>(values...);
            error_ = cudaGetLastError();  // and none is left for others to find
        }
    }
    int error() const { return error_; }

private:
    cudaStream_t stream_;
    cudaError_t error_ = cudaSuccess;
};

/// hopper_kernels.cu: the forward pass without combine, dq and dk and dv without delta and sums.
void launch_hopper_forward(Launches& launches, const Arguments& arguments);
void launch_hopper_gradients(Launches& launches, const Arguments& arguments);

/// elementwise_kernels.cu
int norm_forward(const NormArguments& arguments, void* stream);
int norm_backward(const NormArguments& arguments, void* stream);
int gelu_forward(const GeluArguments& arguments, void* stream);
int gelu_backward(const GeluArguments& arguments, void* stream);

}  // namespace bigbird::attention::cuda
