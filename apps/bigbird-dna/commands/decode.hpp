// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <filesystem>

namespace bigbird::cli {

struct DecodeOptions {
    std::filesystem::path tokenizer, input = "-";
    OutputOptions output;
    int threads = 0;
};

void setup_decode(Program& program, Runner<DecodeOptions> run);
int run_decode(const DecodeOptions& options);

}  // namespace bigbird::cli
