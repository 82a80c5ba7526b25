// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/cpu/convolution_impl.hpp"
#include "bigbird/bins/cpu/first_impl.hpp"
#include "bigbird/bins/cpu/pool_impl.hpp"

namespace bigbird::bins {

PoolKernel pool_kernel_avx2() {
    return {forward_impl, backward_impl};
}

FirstKernel first_kernel_avx2() {
    return {lanes, forward_first, backward_first};
}

ConvolutionKernel convolution_kernel_avx2() {
    return {gemm_columns, block_positions, convolution_scratch, forward_convolution, backward_convolution};
}

}  // namespace bigbird::bins
