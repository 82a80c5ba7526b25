// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>

namespace bigbird {

/// Bytes that this process may take: the machine's free memory or, where it is less, the limit of the job's
/// or container's control group; infinity where it is unknown.
double free_memory();

/// Whether an exception means that memory ran out, the processor's or a GPU's: std::bad_alloc, or LibTorch's
/// own, by their text.
bool is_out_of_memory(const std::exception& error);

}  // namespace bigbird
