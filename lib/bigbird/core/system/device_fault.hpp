// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace bigbird {

/// The message for an exception that means that a GPU or its libraries failed while computing, from
/// LibTorch's text; nullopt for other exceptions. See is_out_of_memory() for exhausted memory.
std::optional<std::string> device_fault(const std::exception& error);

}  // namespace bigbird
