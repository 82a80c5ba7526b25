// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/train_spec.hpp"

#include <string>
#include <vector>

namespace bigbird::task_models {

/// Makes examples of peaks or of labelled sequences, trains a model and the linear floor, scores test by
/// both, evaluates them, and writes the page and the card; model/ comes last. What is there already is kept:
/// a training goes on from its checkpoint. Returns lines for people. Throws what the steps throw, and
/// ConfigError where the folder is another's or was begun with other options.
std::vector<std::string> train(const TrainSpec& spec);

/// Lines that tell what train() would take: the examples are made in $TMPDIR and some steps trained.
std::vector<std::string> forecast_train(const TrainSpec& spec);

}  // namespace bigbird::task_models
