// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/splicing/cpu/splice_impl.hpp"

bigbird::networks::SpliceKernels bigbird::networks::splice_kernels_avx512() {
    return kernels_of_this_set;
}
