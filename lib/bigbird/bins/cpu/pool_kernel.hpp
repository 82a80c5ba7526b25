// SPDX-License-Identifier: Apache-2.0
// Softmax pooling over plain memory, float32, one thread; softmax_pool.hpp defines the result.
#pragma once

#include <cstdint>

namespace bigbird::bins {

/// x: (outputs, pool, channels), sharpness: (channels), y: (outputs, channels); contiguous.
struct PoolShape {
    std::int64_t outputs = 0, pool = 1, channels = 0;
};

struct PoolKernel {
    void (*forward)(const PoolShape& shape, const float* x, const float* sharpness, float* y);
    /// From dy, the gradient of y: writes dx and adds to d_sharpness.
    void (*backward)(const PoolShape& shape, const float* x, const float* sharpness, const float* dy,
                     float* dx, float* d_sharpness);
};

/// The kernel for this processor (core/system/processor.hpp).
const PoolKernel& pool_kernel();

/// The kernels for processors with these instructions, and for all others.
PoolKernel pool_kernel_avx2();
PoolKernel pool_kernel_avx512();
PoolKernel pool_kernel_base();

}  // namespace bigbird::bins
