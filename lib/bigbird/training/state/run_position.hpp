// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace bigbird::training {

/// The data of a checkpoint besides the model and the optimizer.
struct RunPosition {
    std::int64_t step = 0;
    std::int64_t skipped = 0, skipped_in_a_row = 0;
    double last_loss = 0;
    std::optional<std::int64_t> best_step = std::nullopt;
    double best_value = 0;
    std::int64_t evaluations_since_best = 0;
    Json evaluation = Json::object();  ///< of the best step, or of the last one if there is no best
    bool complete = false;
    bool evaluation_due = false;  ///< stopped during the evaluation after `step`

    Json to_json() const;
    /// Throws Json::exception if a value has the wrong type, std::out_of_range if a count is negative or
    /// above 10^15.
    static RunPosition from_json(const Json& json, std::int64_t step);
};

/// The position that state.json of a checkpoint (read_state()) gives. Throws InputError.
RunPosition position_of(const Json& state, const std::filesystem::path& checkpoint);

}  // namespace bigbird::training
