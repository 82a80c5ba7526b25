// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

namespace bigbird::cli {

/// Throws ConfigError where --output of the parsed command is a file or folder that another of its options
/// names, too: with --force it would be gone before, or after, it is read.
void require_outputs_apart(const CLI::App& command);

}  // namespace bigbird::cli
