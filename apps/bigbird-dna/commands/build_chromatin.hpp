// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct BuildChromatinOptions {
    std::vector<std::filesystem::path> peaks, references;
    std::filesystem::path table, coordinates, label_table;
    std::vector<std::string> mats;
    std::int64_t window = 8000, bin = 200;
    std::string bins = "any", group;
    double negatives = 0;
    std::uint64_t seed = 0;
    std::filesystem::path include, exclude;
    HoldOutOptions hold_outs;
    double max_n_fraction = 0.5;
    int threads = 0;
    OutputOptions output;
};

void setup_build_chromatin(Program& program, Runner<BuildChromatinOptions> run);
int run_build_chromatin(const BuildChromatinOptions& options);

}  // namespace bigbird::cli
