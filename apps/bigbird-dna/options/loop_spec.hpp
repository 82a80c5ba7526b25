// SPDX-License-Identifier: Apache-2.0
// The options of training as the library wants them; only for bigbird-dna-tensors.
#pragma once

#include "options/training_options.hpp"

#include "bigbird/training/training_loop.hpp"

namespace bigbird::cli {

/// All but what depends on the data: learning_rate's total and warm-up, evaluation, selection and
/// fixed_options are left to the command.
training::LoopSpec loop_spec(const RunOptions& run, const OptimizationOptions& optimization);

}  // namespace bigbird::cli
