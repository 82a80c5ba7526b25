// SPDX-License-Identifier: Apache-2.0
// evaluate-promoter and evaluate-chromatin.
#pragma once

#include "support/program.hpp"

#include "bigbird/evaluation/evaluate_scores.hpp"

#include <filesystem>
#include <vector>

namespace bigbird::cli {

struct EvaluateOptions {
    evaluation::EvaluationRequest request;  ///< but for scan
    evaluation::ScanOptions scan;           ///< asked for where it has scores
    std::vector<std::filesystem::path> outputs;
    std::filesystem::path model_card;  ///< model folder whose card gets the figures; empty: none
    bool force = false;
};

/// --resamples and --block-size, of 95 % intervals.
void add_interval_options(CLI::App& command, evaluation::EvaluationOptions& options);

void setup_evaluate(Program& program, examples::Task task, Runner<EvaluateOptions> run);
/// Evaluates, says the summary and writes the reports.
int run_evaluate(const EvaluateOptions& options);

}  // namespace bigbird::cli
