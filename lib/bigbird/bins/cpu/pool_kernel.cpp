// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/cpu/pool_kernel.hpp"

#include "bigbird/bins/cpu/pool_impl.hpp"
#include "bigbird/core/system/processor.hpp"

namespace bigbird::bins {

PoolKernel pool_kernel_base() {
    return {forward_impl, backward_impl};
}

const PoolKernel& pool_kernel() {
    static const PoolKernel chosen = [] {
#if defined(__x86_64__)
        if (instruction_set() >= InstructionSet::avx512) return pool_kernel_avx512();
        if (instruction_set() >= InstructionSet::avx2) return pool_kernel_avx2();
#endif
        return pool_kernel_base();
    }();
    return chosen;
}

}  // namespace bigbird::bins
