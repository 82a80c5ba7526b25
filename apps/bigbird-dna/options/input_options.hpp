// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/tokenizer.hpp"

#include <CLI/CLI.hpp>

namespace bigbird::cli {

/// --input, --kmer-length and --tokenizer: what a network reads.
void add_input_options(CLI::App& command, tokenizer::InputSpec& input);

}  // namespace bigbird::cli
