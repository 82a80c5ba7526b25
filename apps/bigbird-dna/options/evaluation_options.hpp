// SPDX-License-Identifier: Apache-2.0
// What evaluate-promoter and evaluate-chromatin have in common.
#pragma once

#include "options/option_groups.hpp"

#include "bigbird/tasks/evaluation_report.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
#include <string>

namespace bigbird::cli {

struct EvaluateOptions {
    std::filesystem::path scores, examples;
    OutputOptions output;
    std::string split = "test";
    tasks::EvaluationOptions evaluation;
    int threads = 0;
};
/// --scores, --examples, --split, --resamples, --block-size, --seed, --threads, --output, --force.
void add_evaluate_options(CLI::App& command, EvaluateOptions& options);

/// Evaluates, says the summary and writes the report.
void evaluate_to_report(const EvaluateOptions& options, tasks::Task task);

}  // namespace bigbird::cli
