// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace bigbird::cli {

/// Returns an error message for the first unknown argument of `command`, with a suggestion; nullopt if all
/// are known. Call it after parsing `command`, even if that failed: CLI11 reports missing options and bad
/// values first.
std::optional<std::string> unknown_argument(const CLI::App& command);

/// Returns an error message for a first word that is not a command or option of the program.
std::string unknown_word(const CLI::App& program, const std::string& word);

}  // namespace bigbird::cli
