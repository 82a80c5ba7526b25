// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include <filesystem>

namespace bigbird::cli {

struct InfoOptions {
    std::filesystem::path path;
    bool json = false, verify = false, labels = false, program = false;
};

void setup_info(Program& program, Runner<InfoOptions> run);
int run_info(const InfoOptions& options);

}  // namespace bigbird::cli
