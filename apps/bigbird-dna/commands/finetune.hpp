// SPDX-License-Identifier: Apache-2.0
// finetune-promoter and finetune-chromatin.
#pragma once

#include "support/program.hpp"

#include "bigbird/task_models/specs/finetune_spec.hpp"

namespace bigbird::cli {

void setup_finetune(Program& program, examples::Task task, Runner<task_models::FinetuneSpec> run);
/// Only in bigbird-dna-tensors.
int run_finetune(const task_models::FinetuneSpec& spec);

}  // namespace bigbird::cli
