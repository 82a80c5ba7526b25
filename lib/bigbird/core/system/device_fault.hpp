// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace bigbird {

/// Message for an exception by which a GPU or its libraries failed while computing, from LibTorch's text;
/// nullopt for any other. See is_out_of_memory() for exhausted memory.
std::optional<std::string> device_fault(const std::exception& error);

}  // namespace bigbird
