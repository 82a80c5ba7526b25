// SPDX-License-Identifier: Apache-2.0
// Options to be removed in the next version: accepted until then with a warning, and not shown in any help.
#pragma once

#include <CLI/CLI.hpp>

#include <span>
#include <string_view>

namespace bigbird::cli {

struct RetiredOption {
    std::string_view command;  ///< a trailing * matches any ending: "evaluate-*"
    std::string_view option;   ///< without its dashes
    std::string_view instead;
};

std::span<const RetiredOption> retired_options();

/// Removes the command's retired options from the help, the manual and the completions.
void hide_retired_options(CLI::App& command);

/// Warns of each retired option that the parsed command was given, and names its replacement.
void warn_of_retired_options(const CLI::App& command);

}  // namespace bigbird::cli
