// SPDX-License-Identifier: Apache-2.0
// The options of finetune-* and predict-* as the library wants them; only for bigbird-dna-tensors.
#pragma once

#include "options/finetune_options.hpp"
#include "options/predict_options.hpp"

#include "bigbird/scoring/finetune.hpp"
#include "bigbird/scoring/predict.hpp"

namespace bigbird::cli {

scoring::FinetuneSpec finetune_spec(const FinetuneOptions& options, tasks::Task task);
/// finetune-*: trains, or starts the processes that do.
int run_finetune(const FinetuneOptions& options, tasks::Task task);
/// Throws ConfigError where neither --regions nor --examples is given.
scoring::PredictSpec predict_spec(const PredictOptions& options, tasks::Task task);

/// Says on standard error what came of it.
void report(const scoring::PredictReport& report);
void report(const train::LoopResult& result);

}  // namespace bigbird::cli
