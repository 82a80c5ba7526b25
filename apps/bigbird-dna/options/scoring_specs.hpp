// SPDX-License-Identifier: Apache-2.0
// The options of predict-* as the library wants them; only for bigbird-dna-tensors.
#pragma once

#include "options/predict_options.hpp"

#include "bigbird/task_models/predict/predict.hpp"

namespace bigbird::cli {

/// Throws ConfigError where neither --regions nor --examples is given.
task_models::PredictSpec predict_spec(const PredictOptions& options, examples::Task task);

/// Says on standard error what came of it.
void report(const task_models::PredictReport& report);

}  // namespace bigbird::cli
