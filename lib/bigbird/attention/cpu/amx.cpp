// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/cpu/kernels.hpp"

#if defined(__AMX_BF16__)

#include "bigbird/attention/cpu/kernel_impl.hpp"

namespace bigbird::attention {

const FusedKernel* fused_kernel_amx() {
    static const KernelOf<MatrixTiles> kernel("amx");
    return &kernel;
}

}  // namespace bigbird::attention

#else

namespace bigbird::attention {

const FusedKernel* fused_kernel_amx() {
    return nullptr;
}

}  // namespace bigbird::attention

#endif
