// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <string>

namespace bigbird::model {

/// "auto" (a GPU where there is one, said on standard error), "cpu", "cuda", "cuda:N". Opens libtorch_cuda.so on first use. Throws DeviceError
/// where the GPU asked for is missing, ConfigError for another word.
at::Device open_device(const std::string& choice);

/// Sets LibTorch's CPU threads (0: all available).
void set_compute_threads(int threads);

}  // namespace bigbird::model
