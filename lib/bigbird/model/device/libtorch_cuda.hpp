// SPDX-License-Identifier: Apache-2.0
// The loaded LibTorch, and its CUDA part, which is opened at run time if there is a driver.
#pragma once

#include "bigbird/model/gpu/gpu_facts.hpp"

#include <filesystem>

namespace bigbird::model {

/// Where LibTorch's libraries were loaded from.
std::filesystem::path libtorch_folder();

/// LibTorch's CUDA part; empty if this LibTorch has none.
std::filesystem::path libtorch_cuda_file();

/// Facts of the driver, its GPUs and LibTorch's CUDA part. The first call starts the driver and, if it finds
/// a GPU, opens libtorch_cuda.so. Call it before anything else asks LibTorch about GPUs. Thread-safe.
const GpuFacts& gpu_facts();

}  // namespace bigbird::model
