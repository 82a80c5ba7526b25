// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <string>

namespace bigbird::cli {

struct HelpOptions {
    std::string command;
    bool markdown = false, man = false;
    OutputOptions output;
    const CLI::App* tree = nullptr;  ///< the program's command line
};

/// Set it up behind all other commands, whose names it takes.
void setup_help(Program& program, Runner<HelpOptions> run);
int run_help(const HelpOptions& options);

}  // namespace bigbird::cli
