// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace bigbird::cli {

/// Throws ConfigError where an option of the parsed command has an empty value, as of an unset variable of a
/// shell.
void require_values(const CLI::App& command);

/// Protects what the parsed command's options name to be read (protect_input), so that no other output of it
/// takes its place. Throws ConfigError where --output of the parsed command is a file or folder that another
/// of its options names, too: with --force it would be gone before, or after, it is read.
void require_outputs_apart(const CLI::App& command);

}  // namespace bigbird::cli
