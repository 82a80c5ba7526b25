// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace bigbird::cli {

/// What is to be said of the first argument that no option of `command` takes, with the option that was
/// perhaps meant; nothing where all are known. Call it after `command` was parsed, whether that failed or
/// not: CLI11 itself looks for missing options and bad values before.
std::optional<std::string> unknown_argument(const CLI::App& command);

/// What is to be said where the first word after the program's name is none of its commands or options.
std::string unknown_word(const CLI::App& program, const std::string& word);

}  // namespace bigbird::cli
