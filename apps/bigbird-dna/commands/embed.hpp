// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include "bigbird/task_models/specs/embed_spec.hpp"

namespace bigbird::cli {

void setup_embed(Program& program, Runner<task_models::EmbedSpec> run);
/// Only in bigbird-dna-tensors (scoring_runs.cpp).
int run_embed(const task_models::EmbedSpec& spec);

}  // namespace bigbird::cli
