// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cpu/fused_kernel.hpp"

#if defined(__AVX512F__)
#include "bigbird/attention/cpu/elementwise_impl.hpp"
#include "bigbird/attention/cpu/kernel_impl.hpp"
#endif

namespace bigbird::attention {

CpuKernels cpu_kernels_avx512() {
#if defined(__AVX512F__)
    static const KernelOf<FloatTiles> kernel("avx512");
    return {&kernel, &elementwise_of_this_set};
#else
    return {};
#endif
}

}  // namespace bigbird::attention
