// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include "bigbird/evaluation/bases/base_evaluation.hpp"

#include <filesystem>
#include <vector>

namespace bigbird::cli {

struct EvaluateTokensOptions {
    evaluation::BaseEvaluationRequest request;
    std::vector<std::filesystem::path> outputs;
    bool force = false;
};

void setup_evaluate_tokens(Program& program, Runner<EvaluateTokensOptions> run);
/// Evaluates, says the summary and writes the reports.
int run_evaluate_tokens(const EvaluateTokensOptions& options);

}  // namespace bigbird::cli
