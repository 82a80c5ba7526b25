// SPDX-License-Identifier: Apache-2.0
// The kernels of stem_kernels.hpp, compiled for the instruction set of the including file (vector.hpp).
#pragma once

#include "bigbird/bins/cpu/convolution_impl.hpp"
#include "bigbird/bins/cpu/first_impl.hpp"
#include "bigbird/bins/cpu/pool_impl.hpp"

namespace bigbird::bins {

namespace {

constexpr StemKernels kernels_of_this_set{
    {forward_impl, backward_impl},
    {lanes, forward_first, backward_first},
    {gemm_columns, block_positions, convolution_scratch, forward_convolution, backward_convolution}};

}  // namespace

}  // namespace bigbird::bins
