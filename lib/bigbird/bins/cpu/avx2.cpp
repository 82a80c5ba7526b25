// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/cpu/stem_impl.hpp"

bigbird::bins::StemKernels bigbird::bins::stem_kernels_avx2() {
    return kernels_of_this_set;
}
