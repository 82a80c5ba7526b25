// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cpu/fused_kernel.hpp"

#if defined(__AVX512BF16__)
#include "bigbird/attention/cpu/kernel_impl.hpp"
#endif

namespace bigbird::attention {

const FusedKernel* fused_kernel_avx512_bf16() {
#if defined(__AVX512BF16__)
    static const KernelOf<PairTiles> kernel("avx512_bf16");
    return &kernel;
#else
    return nullptr;
#endif
}

}  // namespace bigbird::attention
