// SPDX-License-Identifier: Apache-2.0
// What a task model's folder holds beside its network: what the task is, and labels.tsv.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/rows/label_table.hpp"

#include <cstdint>
#include <filesystem>

namespace bigbird::task_models {

/// bigbird_dna.task_model of config.json; null where there is none, of a model for no task. Throws InputError
/// where there is no readable config.json.
Json task_description(const std::filesystem::path& directory);

/// num_labels of config.json. Throws InputError where it has none.
std::int64_t outputs_in(const std::filesystem::path& directory);

/// labels.tsv, a label an output of the network. Throws InputError where it is damaged or has another number
/// of labels.
rows::LabelTable read_labels(const std::filesystem::path& directory, std::int64_t outputs);

/// Reads labels.tsv and calibration.json of a task model and compares them with its config.json. Throws
/// InputError where one is damaged or does not fit. False where the model is for no task.
bool check_task_files(const std::filesystem::path& directory);

}  // namespace bigbird::task_models
