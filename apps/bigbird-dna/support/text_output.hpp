// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"

#include <string>

namespace bigbird::cli {

/// Writes `text` to standard output if --output is "-", else to the file, atomically.
void write_text(const std::string& text, const OutputOptions& output);

}  // namespace bigbird::cli
