// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace bigbird {

/// Bytes that this process may still allocate: the machine's free memory or, if lower, the limit of the job's
/// or container's control group; infinity if unknown.
double free_memory();

/// Whether an exception means that memory ran out, of the processor or of a GPU: std::bad_alloc, or
/// LibTorch's exceptions, recognized by their text.
bool is_out_of_memory(const std::exception& error);

/// The message for an exception that means that a GPU or its libraries failed while computing, from
/// LibTorch's text; nullopt for other exceptions. See is_out_of_memory() for exhausted memory.
std::optional<std::string> device_fault(const std::exception& error);

}  // namespace bigbird
