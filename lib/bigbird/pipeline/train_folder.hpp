// SPDX-License-Identifier: Apache-2.0
// What every folder that train makes has: a lock, and a record of the options and, at the end, the summary.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::tasks {

inline constexpr const char* record_file = "train.json";
inline constexpr const char* lock_file = "lock";
inline constexpr const char *model_folder = "model", *evaluation_file = "evaluation.json";

/// Throws ConfigError if the folder contains files that train did not write.
void require_own_folder(const std::filesystem::path& folder);

/// Whether only the length differs, and training may go on from where it was. Steps beside epochs, which
/// cannot be compared here, are compared by the training, which refuses fewer before it changes anything:
/// only if there is a model.
bool may_go_on(Json before, Json now, bool trained);

/// `more`: further entries of the record. `summary`: null while the folder is not finished.
void write_train_record(const std::filesystem::path& folder, const Json& options, const Json& summary,
                        const Json& more = Json::object());

}  // namespace bigbird::tasks
