// SPDX-License-Identifier: Apache-2.0
// train with peaks and signal: profiles of cut sites at single bases, freed of the enzyme's bias, as
// chrombpnet makes them.
#pragma once

#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <string>
#include <vector>

namespace bigbird::tasks {

/// Reads cut sites and peaks, gets a model of the enzyme's bias, trains the model on top of it, judges both
/// on the test split, and writes evaluation.json, report.html and model/. Returns lines for people. Throws as
/// train().
std::vector<std::string> train_profiles(const TrainSpec& spec);
/// As forecast_train().
std::vector<std::string> forecast_profiles(const TrainSpec& spec);

}  // namespace bigbird::tasks
