// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "manual/command_tree.hpp"

#include <string>

namespace bigbird::cli {

/// The command reference: each command in the order of the help, with its options in tables
/// (docs/commands.md).
std::string markdown_reference(const ProgramText& program);

}  // namespace bigbird::cli
