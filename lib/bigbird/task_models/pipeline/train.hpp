// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/train_spec.hpp"

#include <string>
#include <vector>

namespace bigbird::task_models {

/// Makes examples of peaks or of labeled sequences, trains a model and the linear floor, scores test by
/// both, evaluates them, and writes the page and the card; model/ comes last. Existing results are kept: a
/// training continues from its checkpoint. Returns lines for people. Throws what the steps throw, and
/// ConfigError where the folder is another's or was begun with other options.
std::vector<std::string> train(const TrainSpec& spec);

/// Returns lines with the cost of train(), after making the examples in $TMPDIR and training some steps.
std::vector<std::string> forecast_train(const TrainSpec& spec);

}  // namespace bigbird::task_models
