// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <string>
#include <vector>

namespace bigbird::tasks {

/// Makes examples from peaks, coverage or labeled sequences, trains a model and a linear baseline, scores the
/// test split with both, evaluates them, and writes the report page and the model card; model/ comes last.
/// Keeps existing results; training continues from its checkpoint. Returns lines for people. Throws what the
/// steps throw, and ConfigError if the folder was not made by train or was begun with other options.
std::vector<std::string> train(const TrainSpec& spec);

/// Returns lines with the cost of train(), after making the examples in $TMPDIR and training some steps.
std::vector<std::string> forecast_train(const TrainSpec& spec);

}  // namespace bigbird::tasks
