// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <filesystem>

namespace bigbird::cli {

struct EncodeOptions {
    std::filesystem::path tokenizer, input = "-";
    OutputOptions output;
    bool offsets = false;
    int threads = 0;
};

void setup_encode(Program& program, Runner<EncodeOptions> run);
int run_encode(const EncodeOptions& options);

}  // namespace bigbird::cli
