// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace bigbird::cli {

/// Throws ConfigError if an option of the parsed command has an empty value, for example from an unset shell
/// variable.
void require_values(const CLI::App& command);

/// Protects the inputs that the parsed command's options name (protect_input), so that no output replaces
/// them. Throws ConfigError if --output is a file or folder that another option also names: with --force
/// it would be lost before or after it is read.
void require_outputs_apart(const CLI::App& command);

}  // namespace bigbird::cli
