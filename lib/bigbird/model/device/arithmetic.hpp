// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::model {

/// Whether a device has instructions for bfloat16: every GPU, and CPUs as core/system/processor.hpp says.
bool computes_bf16(const at::Device& device);

/// What arithmetic asked for in `type` is done in on a device: float for bfloat16 on a CPU without
/// instructions for it, where bfloat16 would be many times slower and no closer to the exact result. That is
/// said on standard error, once in a process. Thread-safe.
at::ScalarType arithmetic_type(at::ScalarType type, const at::Device& device);

}  // namespace bigbird::model
