// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/cuda/kernels.hpp"

#include <string>

namespace bigbird::attention::cuda {

/// The kernels of bigbird-cuda.so, opened on the first call. It is searched beside the program and in the
/// folder bin beside the program's (for test programs). Throws DeviceError if it is missing or belongs to
/// another version. Thread-safe.
const KernelTable& kernel_library();

/// Whether kernel_library() opens; if not, the reason is logged once. Thread-safe.
bool has_kernel_library();

/// The architectures that it holds code for, such as "sm_80, compute_80 (PTX), sm_90a". Throws as
/// kernel_library() does.
std::string kernel_architectures();

/// Whether the kernels can compute with tensors on a GPU or, while they are emulated, on the CPU.
bool kernels_serve(bool is_gpu);

/// For tests: while it lives, kernel_library() is a table of kernels that run on the CPU. One at a time.
class EmulatedKernels {
public:
    explicit EmulatedKernels(const KernelTable& table);
    ~EmulatedKernels();
    EmulatedKernels(const EmulatedKernels&) = delete;
    EmulatedKernels& operator=(const EmulatedKernels&) = delete;
};

}  // namespace bigbird::attention::cuda
