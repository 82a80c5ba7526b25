// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/evaluation_options.hpp"
#include "support/program.hpp"

namespace bigbird::cli {

struct EvaluatePromoterOptions : EvaluateOptions {
    std::string threshold = "0.5";
    std::filesystem::path scan, tss;
    std::int64_t distance = 500;
};

void setup_evaluate_promoter(Program& program, Runner<EvaluatePromoterOptions> run);
int run_evaluate_promoter(const EvaluatePromoterOptions& options);

}  // namespace bigbird::cli
