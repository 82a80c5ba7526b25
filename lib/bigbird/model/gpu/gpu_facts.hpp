// SPDX-License-Identifier: Apache-2.0
// Facts from NVIDIA's driver about itself and its GPUs, without LibTorch and without a CUDA toolkit; and
// which GPU a program can use, and why not, by pure functions of facts. Messages are parts of sentences that
// name a remedy.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::model {

struct Gpu {
    std::string name;
    int major = 0, minor = 0;  ///< compute capability
    std::int64_t memory_bytes = 0;
};

struct DriverFacts {
    std::string load_error = {};  ///< why libcuda.so.1 cannot be opened; empty if it was opened
    bool is_missing = true;       ///< libcuda.so.1 is not there at all
    int version = 0;              ///< the newest CUDA that it supports: 13000 is 13.0
    int start_error = 0;          ///< what cuInit returned, a CUresult
    std::string start_error_text = {};
    std::vector<Gpu> gpus = {};  ///< the GPUs that CUDA_VISIBLE_DEVICES allows, by index
};

/// Opens libcuda.so.1, which stays open, and starts the driver. Never throws. A broken driver may crash or
/// hang here.
DriverFacts ask_cuda_driver();

struct GpuFacts {
    DriverFacts driver;
    int libtorch_cuda = 0;   ///< the CUDA that LibTorch was built with, 13000 for 13.0; 0: without
    std::string load_error;  ///< why LibTorch's CUDA part cannot be opened
};

/// Why no GPU of this machine can be used; empty if the machine is not the reason.
std::string machine_obstacle(const GpuFacts& facts);

/// gpu_obstacle() for one GPU; an index that does not exist is an obstacle, too.
std::string gpu_obstacle(const GpuFacts& facts, int index);

struct GpuChoice {
    int index = -1;        ///< -1: none
    std::string obstacle;  ///< why none
};
/// The GPU asked for or, where none was, the first that can be used.
GpuChoice choose_gpu(const GpuFacts& facts, std::optional<int> asked_for);

/// "13.0" for 13000.
std::string cuda_version_text(int version);

/// "NVIDIA H100, compute capability 9.0"
std::string gpu_text(const Gpu& gpu);

/// Whether our own CUDA kernels support the GPU: `fused` (8.0 and newer), `fused-hopper` (only 9.0).
bool has_fused_kernels(const Gpu& gpu);
bool has_hopper_kernels(const Gpu& gpu);

/// The attention backend that replaces the requested one, and why.
struct AttentionFallback {
    std::string backend;   ///< "fused" or "blocked"
    std::string sentence;  ///< for the log
};
/// Returns nullopt if the backend (by its name) supports the GPU.
std::optional<AttentionFallback> attention_fallback(const std::string& backend, const Gpu& gpu);

}  // namespace bigbird::model
