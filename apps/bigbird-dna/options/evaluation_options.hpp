// SPDX-License-Identifier: Apache-2.0
// What evaluate-promoter and evaluate-chromatin have in common.
#pragma once

#include "options/option_groups.hpp"

#include "bigbird/evaluation/evaluate_scores.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct EvaluateOptions {
    std::vector<std::string> scores;
    std::filesystem::path examples;
    std::vector<std::filesystem::path> outputs;
    bool force = false;
    std::string split = "test";
    evaluation::EvaluationOptions evaluation;
    int threads = 0;
};
/// --scores, --examples, --split, --resamples, --block-size, --seed, --threads, --output, --force.
void add_evaluate_options(CLI::App& command, EvaluateOptions& options);

/// What is asked for, as far as the options that all share tell.
evaluation::EvaluationRequest evaluation_request(const EvaluateOptions& options, examples::Task task);
/// Evaluates, says the summary and writes the reports.
void evaluate_to_reports(const evaluation::EvaluationRequest& request, const EvaluateOptions& options);

}  // namespace bigbird::cli
