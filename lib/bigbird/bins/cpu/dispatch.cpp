// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/cpu/convolution_impl.hpp"
#include "bigbird/bins/cpu/first_impl.hpp"
#include "bigbird/bins/cpu/pool_impl.hpp"
#include "bigbird/core/system/processor.hpp"

namespace bigbird::bins {

namespace {

template <typename Kernel>
Kernel choose(Kernel (*base)(), [[maybe_unused]] Kernel (*avx2)(), [[maybe_unused]] Kernel (*avx512)()) {
#if defined(__x86_64__)
    if (instruction_set() >= InstructionSet::avx512) return avx512();
    if (instruction_set() >= InstructionSet::avx2) return avx2();
#endif
    return base();
}

}  // namespace

PoolKernel pool_kernel_base() {
    return {forward_impl, backward_impl};
}

FirstKernel first_kernel_base() {
    return {lanes, forward_first, backward_first};
}

ConvolutionKernel convolution_kernel_base() {
    return {gemm_columns, block_positions, convolution_scratch, forward_convolution, backward_convolution};
}

const PoolKernel& pool_kernel() {
    static const PoolKernel chosen = choose(pool_kernel_base, pool_kernel_avx2, pool_kernel_avx512);
    return chosen;
}

const FirstKernel& first_kernel() {
    static const FirstKernel chosen = choose(first_kernel_base, first_kernel_avx2, first_kernel_avx512);
    return chosen;
}

const ConvolutionKernel& convolution_kernel() {
    static const ConvolutionKernel chosen =
        choose(convolution_kernel_base, convolution_kernel_avx2, convolution_kernel_avx512);
    return chosen;
}

}  // namespace bigbird::bins
