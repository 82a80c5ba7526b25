// SPDX-License-Identifier: Apache-2.0
// Options of labeled sequences: build-sequences, and train, which runs the entire chain.
#pragma once

#include "bigbird/examples/build/sequences.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <CLI/CLI.hpp>

#include <vector>

namespace bigbird::cli {

/// --table and --fasta, in this order.
std::vector<CLI::Option*> add_sequence_inputs(CLI::App& command, examples::SequencesOptions& options);
/// --header.
CLI::Option* add_header_option(CLI::App& command, std::optional<bool>& header);
/// --sequence-column, --label-column, --target, --split-by and --header.
std::vector<CLI::Option*> add_sequence_columns(CLI::App& command, examples::SequencesOptions& options);
/// --strand and --members of a model.
std::vector<CLI::Option*> add_sequence_model_options(CLI::App& command, tasks::SequenceSpec& model,
                                                     const char* group);

}  // namespace bigbird::cli
