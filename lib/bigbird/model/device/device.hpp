// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>
#include <c10/core/Event.h>

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

}  // namespace bigbird::model
