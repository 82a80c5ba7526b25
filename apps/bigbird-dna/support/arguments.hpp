// SPDX-License-Identifier: Apache-2.0
// What is wrong with a command line.
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace bigbird::cli {

/// Returns an error message for the first argument of `command` that is not for its task, or unknown, with a
/// suggestion; nullopt if there is none. Call it after parsing `command`, even if that failed: CLI11 reports
/// missing options and bad values first.
std::optional<std::string> unknown_argument(const CLI::App& command);

/// Returns an error message for a first word that is not a command or option of the program.
std::string unknown_word(const CLI::App& program, const std::string& word);

/// Throws ConfigError if an option of the parsed command has an empty value, for example from an unset shell
/// variable.
void require_values(const CLI::App& command);

/// Protects the inputs that the parsed command's options name (protect_input), so that no output replaces
/// them. Throws ConfigError if --output is a file or folder that another option also names: with --force
/// it would be lost before or after it is read.
void require_outputs_apart(const CLI::App& command);

}  // namespace bigbird::cli
