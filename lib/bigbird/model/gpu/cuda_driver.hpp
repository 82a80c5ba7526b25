// SPDX-License-Identifier: Apache-2.0
// Facts from NVIDIA's driver about itself and its GPUs, without LibTorch and without a CUDA toolkit.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bigbird::model {

struct Gpu {
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    std::int64_t memory_bytes = 0;
};

struct DriverFacts {
    std::string load_error;  ///< why libcuda.so.1 cannot be opened; empty if it was opened
    bool is_missing = true;  ///< libcuda.so.1 is not there at all
    int version = 0;         ///< the newest CUDA that it supports: 13000 is 13.0
    int start_error = 0;     ///< what cuInit returned, a CUresult
    std::string start_error_text;
    std::vector<Gpu> gpus;  ///< the GPUs that CUDA_VISIBLE_DEVICES allows, by index
};

/// Opens libcuda.so.1, which stays open, and starts the driver. Never throws. A broken driver may crash or
/// hang here.
DriverFacts ask_cuda_driver();

}  // namespace bigbird::model
