// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::model {

/// Whether a device has instructions for bfloat16: every GPU, and CPUs by core/system/processor.hpp.
bool computes_bf16(const at::Device& device);

/// Returns the type that a device computes in when `type` is requested. On a CPU without bfloat16
/// instructions, bfloat16 becomes float, which is many times faster there. Warns of that once per process.
/// Thread-safe.
at::ScalarType arithmetic_type(at::ScalarType type, const at::Device& device);

}  // namespace bigbird::model
