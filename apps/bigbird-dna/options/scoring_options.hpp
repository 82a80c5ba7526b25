// SPDX-License-Identifier: Apache-2.0
// Options that predict-*, predict-variants and embed share. They write into the library's specs.
#pragma once

#include "options/option_groups.hpp"

#include "bigbird/outputs/output_spec.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace bigbird::cli {

/// --output, several times, --precision and --force. `what`: the content of the outputs. Call it after
/// add_min_score_option().
void add_score_outputs(CLI::App& command, outputs::OutputSpec& outputs, const std::string& what = "Scores");

/// --output, several times, and --force, of commands that score letters (task_models::LetterOutputs).
void add_letter_outputs(CLI::App& command, outputs::OutputSpec& outputs, const std::string& what);

/// --min-score, of .long.tsv outputs.
void add_min_score_option(CLI::App& command, std::optional<double>& min_score);

/// --labels, a selection of a model's labels (rows::LabelTable::select).
void add_labels_option(CLI::App& command, std::string& labels);

/// --device, --threads, --batch-tokens, --dtype and --attention.
void add_compute_options(CLI::App& command, task_models::ComputeSpec& compute);

}  // namespace bigbird::cli
