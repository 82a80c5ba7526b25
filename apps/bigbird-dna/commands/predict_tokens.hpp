// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include "bigbird/task_models/specs/tokens_spec.hpp"

namespace bigbird::cli {

void setup_predict_tokens(Program& program, Runner<task_models::PredictTokensSpec> run);
/// Only in bigbird-dna-tensors (tokens_runs.cpp).
int run_predict_tokens(const task_models::PredictTokensSpec& spec);

}  // namespace bigbird::cli
