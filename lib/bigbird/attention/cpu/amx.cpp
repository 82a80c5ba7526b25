// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cpu/fused_kernel.hpp"

#if defined(__AMX_BF16__)
#include "bigbird/attention/cpu/kernel_impl.hpp"
#endif

namespace bigbird::attention {

const FusedKernel* fused_kernel_amx() {
#if defined(__AMX_BF16__)
    static const KernelOf<MatrixTiles> kernel("amx");
    return &kernel;
#else
    return nullptr;
#endif
}

}  // namespace bigbird::attention
