// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include "bigbird/task_models/specs/tokens_spec.hpp"

namespace bigbird::cli {

void setup_finetune_tokens(Program& program, Runner<task_models::FinetuneTokensSpec> run);
/// Only in bigbird-dna-tensors (tokens_runs.cpp).
int run_finetune_tokens(const task_models::FinetuneTokensSpec& spec);

}  // namespace bigbird::cli
