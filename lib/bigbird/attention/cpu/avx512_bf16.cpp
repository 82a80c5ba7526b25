// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cpu/kernels.hpp"

#if defined(__AVX512BF16__)

#include "bigbird/attention/cpu/kernel_impl.hpp"

namespace bigbird::attention {

const FusedKernel* fused_kernel_avx512_bf16() {
    static const KernelOf<PairTiles> kernel("avx512_bf16");
    return &kernel;
}

}  // namespace bigbird::attention

#else

namespace bigbird::attention {

const FusedKernel* fused_kernel_avx512_bf16() {
    return nullptr;
}

}  // namespace bigbird::attention

#endif
