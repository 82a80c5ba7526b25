// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/cpu/profile_impl.hpp"

bigbird::networks::ProfileKernels bigbird::networks::profile_kernels_avx512() {
    return profile_kernels_of_this_set;
}
