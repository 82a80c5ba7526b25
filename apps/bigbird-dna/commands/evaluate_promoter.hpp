// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/evaluation_options.hpp"
#include "support/program.hpp"

namespace bigbird::cli {

struct EvaluatePromoterOptions : EvaluateOptions {};

void setup_evaluate_promoter(Program& program, Runner<EvaluatePromoterOptions> run);
int run_evaluate_promoter(const EvaluatePromoterOptions& options);

}  // namespace bigbird::cli
