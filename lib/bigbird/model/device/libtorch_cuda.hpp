// SPDX-License-Identifier: Apache-2.0
// LibTorch as it was loaded, and its CUDA part, which is opened at run time where a driver is.
#pragma once

#include "bigbird/core/system/needed_libraries.hpp"
#include "bigbird/model/gpu/gpu_facts.hpp"

#include <filesystem>
#include <vector>

namespace bigbird::model {

/// Where LibTorch's libraries were loaded from.
std::filesystem::path libtorch_folder();

/// The CUDA libraries that LibTorch's CUDA part needs, found or not, by name. The driver's is left out.
std::vector<NeededLibrary> libtorch_cuda_libraries();

/// What the driver, its GPUs and LibTorch's CUDA part say. The first call starts the driver and, where that
/// finds a GPU, opens libtorch_cuda.so, which must come before anything else asks LibTorch about GPUs.
/// Thread-safe.
const GpuFacts& gpu_facts();

}  // namespace bigbird::model
