// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct BuildPromotersOptions {
    std::filesystem::path tss, chain;
    std::vector<std::filesystem::path> references;
    std::string window = "-5000:3000", negatives = "random-bases";
    HoldOutOptions hold_outs;
    double max_n_fraction = 0.5;
    std::uint64_t seed = 0;
    int threads = 0;
    OutputOptions output;
};

void setup_build_promoters(Program& program, Runner<BuildPromotersOptions> run);
int run_build_promoters(const BuildPromotersOptions& options);

}  // namespace bigbird::cli
