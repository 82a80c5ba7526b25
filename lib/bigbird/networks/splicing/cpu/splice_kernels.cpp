// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/cpu/splice_kernels.hpp"

#include "bigbird/core/system/processor.hpp"
#include "bigbird/networks/splicing/cpu/splice_impl.hpp"

namespace bigbird::networks {

namespace {

SpliceKernels choose_splice_kernels() {
#if defined(__x86_64__)
    if (instruction_set() >= InstructionSet::avx512) return splice_kernels_avx512();
    if (instruction_set() >= InstructionSet::avx2) return splice_kernels_avx2();
#endif
    return splice_kernels_base();
}

}  // namespace

SpliceKernels splice_kernels_base() {
    return kernels_of_this_set;
}

const SpliceKernels& splice_kernels() {
    static const SpliceKernels chosen = choose_splice_kernels();
    return chosen;
}

}  // namespace bigbird::networks
