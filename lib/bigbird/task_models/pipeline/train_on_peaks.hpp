// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/train_spec.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Where train puts what, in its folder.
inline constexpr const char *examples_folder = "examples", *run_folder = "run";

/// The fine-tuning that train does in its folder.
FinetuneSpec model_spec(const TrainSpec& spec, const std::filesystem::path& folder);
/// Makes the examples where they are not there yet.
void build_examples(const TrainSpec& spec, const std::filesystem::path& folder);

/// Makes examples, trains a bin model and the linear floor, scores the test bins by both on both strands,
/// evaluates them, and writes the page and the card; model/ comes last. What is there already is kept: a
/// training goes on from its checkpoint. Returns five lines for people. Throws what the steps throw, and
/// ConfigError where the folder is another's or was begun with other options.
std::vector<std::string> train_on_peaks(const TrainSpec& spec);

/// Lines that tell what train_on_peaks() would take: the examples are made in $TMPDIR and some steps trained.
std::vector<std::string> forecast_train(const TrainSpec& spec);

}  // namespace bigbird::task_models
