// SPDX-License-Identifier: Apache-2.0
// training_state/ of a checkpoint: state.json, and sha256.txt, a `sha256sum -c` list of all other files of
// the checkpoint. Safe from several threads on different folders.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>

namespace bigbird::training {

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
