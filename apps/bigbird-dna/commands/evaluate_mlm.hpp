// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/option_groups.hpp"
#include "support/program.hpp"

#include "bigbird/pretraining/specs/evaluation_spec.hpp"

namespace bigbird::cli {

struct EvaluateMlmOptions {
    pretraining::MlmEvaluationSpec spec;
    OutputOptions output;
    std::filesystem::path token_scores;
};

void setup_evaluate_mlm(Program& program, Runner<EvaluateMlmOptions> run);
/// Only in bigbird-dna-tensors.
int run_evaluate_mlm(const EvaluateMlmOptions& options);

}  // namespace bigbird::cli
