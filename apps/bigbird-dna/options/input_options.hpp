// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/tokenizer.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace bigbird::cli {

/// --tokenizer, which `what` describes: what a network reads.
void add_input_options(CLI::App& command, tokenizer::InputSpec& input, const std::string& what);

}  // namespace bigbird::cli
