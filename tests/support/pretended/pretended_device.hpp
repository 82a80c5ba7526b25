// SPDX-License-Identifier: Apache-2.0
// A device for tests that behaves as a GPU does where GPUs differ from the CPU: LibTorch's PrivateUse1 under
// the name "pretended", which --device and model::open_device() take in a program that links it. Its memory
// may not be touched by the host outside of operators (a read or write is a segmentation fault), operators
// refuse tensors that lie on another device, and what would make the host wait for a GPU is counted. It
// computes on the CPU, with LibTorch's CPU kernels; autocast does what it does on CUDA, and dropout draws the
// bits that it draws on the CPU.
#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <map>
#include <string>

namespace bigbird::testing {

/// The one device there is.
at::Device pretended_device();

/// How often the host would have waited for the device, by the operator, copy or event that it waited for.
using Waits = std::map<std::string, std::int64_t>;

/// Since the last call.
Waits take_waits();

/// Bytes of the device's memory that are in use.
std::int64_t pretended_bytes();

/// Whether reading the byte there ends in a segmentation fault; tried in another process.
bool faults(const void* address);

/// Whether the address is the device's.
bool on_pretended_device(const void* address);

/// While it lives all of the device's memory is open, for what launches kernels of its own.
class KernelRuns {
public:
    KernelRuns();
    ~KernelRuns();
    KernelRuns(const KernelRuns&) = delete;
    KernelRuns& operator=(const KernelRuns&) = delete;
};

}  // namespace bigbird::testing
