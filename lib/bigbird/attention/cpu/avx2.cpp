// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cpu/fused_kernel.hpp"

#if defined(__AVX2__)
#include "bigbird/attention/cpu/elementwise_impl.hpp"
#include "bigbird/attention/cpu/kernel_impl.hpp"
#endif

namespace bigbird::attention {

const FusedKernel* fused_kernel_avx2() {
#if defined(__AVX2__)
    static const KernelOf<FloatTiles> kernel("avx2");
    return &kernel;
#else
    return nullptr;
#endif
}

const ElementwiseKernels* elementwise_avx2() {
#if defined(__AVX2__)
    return &elementwise_of_this_set;
#else
    return nullptr;
#endif
}

}  // namespace bigbird::attention
