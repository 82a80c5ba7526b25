// SPDX-License-Identifier: Apache-2.0
// NCCL is used through a separate library beside the program. It is opened only if GPUs are used, so that the
// program starts on machines without a GPU.
#pragma once

#include "bigbird/core/system/program_file.hpp"

#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

namespace bigbird::training {

/// Throws DeviceError if `library` is missing (built only where nccl.h and the CUDA headers are) or cannot
/// be opened. The first library that was opened is used from then on.
c10::intrusive_ptr<c10d::Backend> open_nccl(
    const c10::intrusive_ptr<c10d::Store>& store, int rank, int size, const at::Device& device,
    const std::filesystem::path& library = program_file("bigbird-nccl.so"));

}  // namespace bigbird::training
