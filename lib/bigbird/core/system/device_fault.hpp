// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <exception>
#include <optional>
#include <string>

namespace bigbird {

/// The sentence for an exception that says that a GPU or its libraries failed while they computed, from
/// LibTorch's text; nothing for any other. Memory that ran out is is_out_of_memory()'s.
std::optional<std::string> device_fault(const std::exception& error);

}  // namespace bigbird
