// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <string>

namespace bigbird::cli {

struct CompletionOptions {
    std::string shell;
    OutputOptions output;
    const CLI::App* tree = nullptr;  ///< the program's command line
};

void setup_completion(Program& program, Runner<CompletionOptions> run);
int run_completion(const CompletionOptions& options);

}  // namespace bigbird::cli
