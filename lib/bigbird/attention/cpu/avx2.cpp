// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cpu/kernels.hpp"

#if defined(__AVX2__)

#include "bigbird/attention/cpu/elementwise_impl.hpp"
#include "bigbird/attention/cpu/kernel_impl.hpp"

namespace bigbird::attention {

const FusedKernel* fused_kernel_avx2() {
    static const KernelOf<FloatTiles> kernel("avx2");
    return &kernel;
}

const ElementwiseKernels* elementwise_avx2() {
    return &elementwise_of_this_set;
}

}  // namespace bigbird::attention

#else

namespace bigbird::attention {

const FusedKernel* fused_kernel_avx2() {
    return nullptr;
}

const ElementwiseKernels* elementwise_avx2() {
    return nullptr;
}

}  // namespace bigbird::attention

#endif
