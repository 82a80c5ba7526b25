// SPDX-License-Identifier: Apache-2.0
// Autocast on the pretended device, by the lists that LibTorch has for CUDA.
#include <ATen/autocast_mode.h>
#include <torch/library.h>

TORCH_LIBRARY_IMPL(_, AutocastPrivateUse1, m) {
    m.fallback(torch::CppFunction::makeFallthrough());
}

// LibTorch's macros take `m`, and at:: where they name operators.
namespace at {

#define BIGBIRD_IN_LOWER_PRECISION(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, lower_precision_fp)
#define BIGBIRD_IN_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32)
#define BIGBIRD_TO_FP32(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, fp32_set_opt_dtype)
#define BIGBIRD_IN_WIDEST(...) KERNEL_PRIVATEUSEONE(__VA_ARGS__, promote)

TORCH_LIBRARY_IMPL(aten, AutocastPrivateUse1, m) {
    AT_FORALL_LOWER_PRECISION_FP(BIGBIRD_IN_LOWER_PRECISION)
    AT_FORALL_FP32(BIGBIRD_IN_FP32)
    AT_FORALL_FP32_SET_OPT_DTYPE(BIGBIRD_TO_FP32)
    AT_FORALL_PROMOTE(BIGBIRD_IN_WIDEST)
}

}  // namespace at
