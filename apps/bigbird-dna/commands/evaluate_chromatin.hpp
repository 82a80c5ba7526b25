// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/evaluation_options.hpp"
#include "support/program.hpp"

namespace bigbird::cli {

struct EvaluateChromatinOptions : EvaluateOptions {
    bool published = false;
};

void setup_evaluate_chromatin(Program& program, Runner<EvaluateChromatinOptions> run);
int run_evaluate_chromatin(const EvaluateChromatinOptions& options);

}  // namespace bigbird::cli
