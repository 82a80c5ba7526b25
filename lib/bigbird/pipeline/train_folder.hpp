// SPDX-License-Identifier: Apache-2.0
// What every folder that train makes has: a lock, and a record of the options and, at the end, the summary;
// and the steps in which it is made.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
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

/// The steps of one call of train, from its construction on.
class TrainSteps {
public:
    /// `count`: how many there are. `max_hours`: 0: no limit.
    TrainSteps(std::filesystem::path folder, int count, double max_hours)
        : folder_(std::move(folder)), count_(count), max_hours_(max_hours) {}

    /// Logs the next step, whose results go into `part` of the folder. Throws Stopped, but not before the
    /// first.
    void next(const char* what, const char* part);
    /// What is left of max_hours: above 0, or 0 without a limit.
    double max_hours() const { return max_hours_ > 0 ? std::max(1e-9, hours_left()) : 0; }
    double hours_left() const;

private:
    std::filesystem::path folder_;
    int count_, steps_ = 0;
    double max_hours_;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// `more`: further entries of the record. `summary`: null while the folder is not finished.
void write_train_record(const std::filesystem::path& folder, const Json& options, const Json& summary,
                        const Json& more = Json::object());

}  // namespace bigbird::tasks
