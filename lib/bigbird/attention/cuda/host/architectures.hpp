// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

/// A symbol of bigbird-cuda.so: the GPU architectures that it holds code for, as words.
extern "C" const char* bigbird_cuda_architectures();

namespace bigbird::attention::cuda {

/// The same of the library beside this program, such as "sm_80, compute_80 (PTX), sm_90a". Throws as
/// kernel_library() does.
std::string kernel_architectures();

}  // namespace bigbird::attention::cuda
