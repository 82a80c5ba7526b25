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
    /// Throws Json::exception if a value has the wrong type, or a count is negative or above 10^15.
    static RunPosition from_json(const Json& json, std::int64_t step);
};

/// The position that state.json of a checkpoint (read_state()) gives. Throws InputError.
RunPosition position_of(const Json& state, const std::filesystem::path& checkpoint);

// training_state/ of a checkpoint: state.json, and sha256.txt, a `sha256sum -c` list of all other files of
// the checkpoint. Safe from several threads on different folders.

/// Makes training_state/ in a checkpoint and writes state.json. Throws WriteError.
void write_state(const std::filesystem::path& checkpoint, const Json& state);
/// Writes sha256.txt, after all other files. Throws WriteError, or InputError if a file cannot be read.
void write_sums(const std::filesystem::path& checkpoint);

/// Compares every file of the list with its checksum. Throws InputError naming what is missing, damaged or
/// outside the folder.
void check_sums(const std::filesystem::path& checkpoint);
/// Reads state.json; it has a "step" of at least 0. Throws InputError.
Json read_state(const std::filesystem::path& checkpoint);

}  // namespace bigbird::training
