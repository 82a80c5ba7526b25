// SPDX-License-Identifier: Apache-2.0
// What the library of CUDA kernels (bigbird-cuda.so) offers. Plain C; the library knows no LibTorch. Every
// call works on the current device and the caller's stream (a cudaStream_t), allocates nothing and waits for
// nothing, so that it can be captured in a CUDA graph (the first call for Hopper has the driver map a page of
// the process: wait_reports.cuh). All pointers are to device memory.
#pragma once

#include "bigbird/attention/cuda/arguments.hpp"
#include "bigbird/attention/cuda/elementwise_arguments.hpp"

namespace bigbird::attention::cuda {

/// Results are cudaError_t, 0 for success.
struct KernelTable {
    int version = 0;
    const char* (*error_text)(int error) = nullptr;
    bool (*supports)(KernelSet kernels, int head_dim) = nullptr;
    /// Thread blocks of a persistent grid: one for each multiprocessor of a device.
    int (*persistent_blocks)(int device) = nullptr;
    /// Writes out and lse; needs q, k, v, key_mask, biases, queries, workspace (forward_workspace()).
    int (*forward)(const Arguments& arguments, void* stream) = nullptr;
    /// Writes delta, and of dq, dk and dv what `gradients` says; needs all of them, workspace of
    /// backward_workspace().
    int (*backward)(const Arguments& arguments, void* stream) = nullptr;
    /// What elementwise_arguments.hpp says. Columns: a multiple of 8, at most largest_norm for norms.
    int (*norm_forward)(const NormArguments& arguments, void* stream) = nullptr;
    int (*norm_backward)(const NormArguments& arguments, void* stream) = nullptr;
    int (*gelu_forward)(const GeluArguments& arguments, void* stream) = nullptr;
    int (*gelu_backward)(const GeluArguments& arguments, void* stream) = nullptr;
    int (*softmax_gradient)(const SoftmaxArguments& arguments, void* stream) = nullptr;
    /// For tests: a kernel for compute capability 9.0 that waits for ever, and is ended after some seconds.
    /// It leaves a CUDA error that the process cannot get rid of.
    int (*hang)(void* stream) = nullptr;
};

/// Raised when Arguments or KernelTable change.
inline constexpr int kernel_table_version = 4;

}  // namespace bigbird::attention::cuda

/// The one symbol of the library.
extern "C" const bigbird::attention::cuda::KernelTable* bigbird_cuda_kernels();
