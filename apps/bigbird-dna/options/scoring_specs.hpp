// SPDX-License-Identifier: Apache-2.0
// The options of finetune-* as the library wants them; only for bigbird-dna-tensors.
#pragma once

#include "options/finetune_options.hpp"

#include "bigbird/task_models/finetune/finetune.hpp"

namespace bigbird::cli {

task_models::FinetuneSpec finetune_spec(const FinetuneOptions& options, examples::Task task);
/// finetune-*: trains, or starts the processes that do.
int run_finetune(const FinetuneOptions& options, examples::Task task);

/// Says on standard error what came of it.
void report(const training::LoopResult& result);

}  // namespace bigbird::cli
