// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>

namespace bigbird::training {

/// What a checkpoint must carry besides the model and the optimizer.
struct RunPosition {
    std::int64_t step = 0;
    std::int64_t skipped = 0, skipped_in_a_row = 0;
    double last_loss = 0;
    std::optional<std::int64_t> best_step = std::nullopt;
    double best_value = 0;
    std::int64_t evaluations_since_best = 0;
    Json evaluation = Json::object();  ///< the best step's, or the last one's where none is the best
    bool complete = false;
    bool evaluation_due = false;  ///< asked to stop in the middle of the evaluation after `step`

    Json to_json() const;
    /// Throws Json::exception where a value is of another kind, std::out_of_range where a count is negative
    /// or beyond 10^15.
    static RunPosition from_json(const Json& json, std::int64_t step);
};

/// The position that state.json of a checkpoint (read_state()) gives. Throws InputError.
RunPosition position_of(const Json& state, const std::filesystem::path& checkpoint);

}  // namespace bigbird::training
