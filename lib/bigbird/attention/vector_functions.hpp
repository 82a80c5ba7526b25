// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <ATen/ops/exp.h>
#include <ATen/ops/ones.h>

namespace bigbird::attention {

/// MKL chooses its vector functions in their first call. If two threads make that call at once, one of them
/// may use a less exact function: exp in float was off by 7e-5 in one process of fifty
/// (docs/development/measurements.md). So one thread makes the first call, before any parallel work.
/// Thread-safe; later calls cost nothing.
inline void choose_vector_functions() {
    static const at::Tensor once = at::exp(at::ones({64}));
}

}  // namespace bigbird::attention
