// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include "bigbird/task_models/specs/variant_spec.hpp"

namespace bigbird::cli {

void setup_predict_variants(Program& program, Runner<task_models::VariantSpec> run);
/// Only in bigbird-dna-tensors (scoring_runs.cpp).
int run_predict_variants(const task_models::VariantSpec& spec);

}  // namespace bigbird::cli
