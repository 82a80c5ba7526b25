// SPDX-License-Identifier: Apache-2.0
// One maker an instruction set; each stands in a file of its own that is compiled for it, and may be called
// only where the processor has it (fused_dispatch.cpp). nullptr where the compiler cannot target it.
#pragma once

#include "bigbird/attention/cpu/elementwise.hpp"
#include "bigbird/attention/cpu/fused_kernel.hpp"

namespace bigbird::attention {

const FusedKernel* fused_kernel_avx2();
const FusedKernel* fused_kernel_avx512();
const FusedKernel* fused_kernel_avx512_bf16();  ///< bfloat16 tensors only
const FusedKernel* fused_kernel_amx();          ///< bfloat16 tensors only

const ElementwiseKernels* elementwise_avx2();
const ElementwiseKernels* elementwise_avx512();

}  // namespace bigbird::attention
