// SPDX-License-Identifier: Apache-2.0
// predict-chromatin and predict-promoter.
#pragma once

#include "support/program.hpp"

#include "bigbird/task_models/specs/predict_spec.hpp"

namespace bigbird::cli {

/// Adds the command of a task.
void setup_predict(Program& program, examples::Task task, Runner<task_models::PredictSpec> run);
/// Only in bigbird-dna-tensors (scoring_runs.cpp).
int run_predict(const task_models::PredictSpec& spec);

}  // namespace bigbird::cli
