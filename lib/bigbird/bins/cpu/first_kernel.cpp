// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/cpu/first_kernel.hpp"

#include "bigbird/bins/cpu/first_impl.hpp"
#include "bigbird/core/system/processor.hpp"

namespace bigbird::bins {

FirstKernel first_kernel_base() {
    return {lanes, forward_first, backward_first};
}

const FirstKernel& first_kernel() {
    static const FirstKernel chosen = [] {
#if defined(__x86_64__)
        if (instruction_set() >= InstructionSet::avx512) return first_kernel_avx512();
        if (instruction_set() >= InstructionSet::avx2) return first_kernel_avx2();
#endif
        return first_kernel_base();
    }();
    return chosen;
}

}  // namespace bigbird::bins
