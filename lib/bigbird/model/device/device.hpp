// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/attention/attention.hpp"
#include "bigbird/model/gpu/gpu_facts.hpp"

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace bigbird::model {

/// "auto" (a GPU where there is one), "cpu", "cuda", "cuda:N"; the choice is logged. Opens libtorch_cuda.so
/// on first use, which must come before anything else asks LibTorch about GPUs. Also accepts the name of a
/// device that the calling program registered with LibTorch (PrivateUse1). Throws DeviceError, naming what is
/// missing, if the requested GPU cannot be used, and ConfigError for other words.
at::Device open_device(const std::string& choice);

/// Bytes of a GPU's memory, used or not.
std::int64_t device_memory(const at::Device& device);

/// Whether "auto" would be a GPU.
bool has_gpu();

/// Copies a tensor from the CPU to the device. For a GPU the call does not wait: the copy goes through
/// page-locked memory, in the order of the device's current stream.
at::Tensor copy_to_device(const at::Tensor& x, const at::Device& device);

/// A tensor that is being copied to the CPU. On a GPU the copy starts after all earlier work of the stream,
/// and only get() waits.
class HostCopy {
public:
    explicit HostCopy(const at::Tensor& x);
    at::Tensor get();  // on the CPU

private:
    at::Tensor host_;
    std::optional<c10::Event> copied_;
};

/// Sets LibTorch's CPU threads (0: all available). From now on the C library keeps the memory of freed
/// tensors for later ones. New pages would have to be cleared by the system.
void set_compute_threads(int threads);

/// Runs body(i) for each i < count. If they are `shared` and at least as many as LibTorch's threads, each
/// thread takes some of them, and their operations run on one thread each; otherwise one follows the other,
/// and threads share each operation. For passes of small networks, whose operations are so short that threads
/// would mostly wait for each other. `body` has the caller's modes (inference, gradients); if it is `shared`,
/// it is thread-safe. Throws what it throws.
void for_each_pass(std::int64_t count, bool shared, const std::function<void(std::int64_t)>& body);

/// Whether a device has instructions for bfloat16: every GPU, and CPUs by core/system/processor.hpp.
bool computes_bf16(const at::Device& device);

/// Returns the type that a device computes in when `type` is requested. On a CPU without bfloat16
/// instructions, bfloat16 becomes float, which is many times faster there. Warns of that once per process.
/// Thread-safe.
at::ScalarType arithmetic_type(at::ScalarType type, const at::Device& device);

/// Returns the backend that --attention names or, with a warning, the nearest one that supports the given
/// GPU. Throws ConfigError for other names.
attention::Backend usable_attention(const std::string& name, const at::Device& device);

/// Where LibTorch's libraries were loaded from.
std::filesystem::path libtorch_folder();

/// LibTorch's CUDA part; empty if this LibTorch has none.
std::filesystem::path libtorch_cuda_file();

/// Facts of the driver, its GPUs and LibTorch's CUDA part. The first call starts the driver and, if it finds
/// a GPU, opens libtorch_cuda.so. Call it before anything else asks LibTorch about GPUs. Thread-safe.
const GpuFacts& gpu_facts();

}  // namespace bigbird::model
