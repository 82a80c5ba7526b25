// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/testing.hpp"

#include <c10/core/Device.h>
#include <dlfcn.h>

namespace bigbird::testing {

/// Functions of the CUDA runtime that LibTorch has opened.
template <typename Function>
Function runtime(const char* name) {
    void* library = ::dlopen("libcudart.so.13", RTLD_NOW | RTLD_NOLOAD);
    DOCTEST_REQUIRE(library != nullptr);
    return reinterpret_cast<Function>(::dlsym(library, name));
}

/// Whether a GPU runs the kernels for compute capability 9.0.
inline bool is_hopper(const c10::Device& gpu) {
    constexpr int capability_major = 75;  // cudaDevAttrComputeCapabilityMajor
    int major = 0;
    DOCTEST_REQUIRE(runtime<int (*)(int*, int, int)>("cudaDeviceGetAttribute")(&major, capability_major,
                                                                               gpu.index()) == 0);
    return major == 9;
}

}  // namespace bigbird::testing
