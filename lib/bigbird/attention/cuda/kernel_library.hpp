// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/cuda/kernels.hpp"

namespace bigbird::attention::cuda {

/// The kernels of bigbird-cuda.so, which is looked for beside the program and in the folder bin beside the
/// program's (for test programs), and opened on the first call. Throws DeviceError where it is missing or
/// belongs to another version. Thread-safe.
const KernelTable& kernel_library();

}  // namespace bigbird::attention::cuda
