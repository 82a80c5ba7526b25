// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <filesystem>
#include <vector>

namespace bigbird::cli {

struct MergeOptions {
    std::vector<std::filesystem::path> parts;
    OutputOptions output;
    std::filesystem::path manifest;  ///< of documents
    int threads = 0;
};

void setup_merge(Program& program, Runner<MergeOptions> run);
int run_merge(const MergeOptions& options);

}  // namespace bigbird::cli
