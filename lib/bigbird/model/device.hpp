// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace bigbird::model {

/// "auto" (a GPU where there is one), "cpu", "cuda", "cuda:N"; the choice is said on standard error. Opens
/// libtorch_cuda.so on first use, which must come before anything else asks LibTorch about GPUs. Throws
/// DeviceError saying what is missing where the GPU asked for cannot be used, ConfigError for another word.
at::Device open_device(const std::string& choice);

/// Whether "auto" would be a GPU.
bool has_gpu();

/// Sets LibTorch's CPU threads (0: all available). From now on the C library keeps the memory of freed
/// tensors for the next ones, which would otherwise begin as fresh pages that the system clears.
void set_compute_threads(int threads);

}  // namespace bigbird::model
