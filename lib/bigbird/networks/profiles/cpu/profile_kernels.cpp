// SPDX-License-Identifier: Apache-2.0
#include "bigbird/networks/profiles/cpu/profile_kernels.hpp"

#include "bigbird/core/system/processor.hpp"
#include "bigbird/networks/profiles/cpu/profile_impl.hpp"

namespace bigbird::networks {

namespace {

ProfileKernels choose_profile_kernels() {
#if defined(__x86_64__)
    if (instruction_set() >= InstructionSet::avx512) return profile_kernels_avx512();
    if (instruction_set() >= InstructionSet::avx2) return profile_kernels_avx2();
#endif
    return profile_kernels_base();
}

}  // namespace

ProfileKernels profile_kernels_base() {
    return profile_kernels_of_this_set;
}

const ProfileKernels& profile_kernels() {
    static const ProfileKernels chosen = choose_profile_kernels();
    return chosen;
}

}  // namespace bigbird::networks
