// SPDX-License-Identifier: Apache-2.0
// Determines the state of a run directory at the start of a run: new, to be resumed, or finished. Implements
// --resume and --force.
#pragma once

#include "bigbird/training/checkpoint_store.hpp"
#include "bigbird/training/training_loop.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace bigbird::training {

inline constexpr const char* model_folder = "model";  ///< of a finished run

struct RunStart {
    bool finished = false;                                ///< model/ exists already
    std::optional<Checkpoint> checkpoint = std::nullopt;  ///< to resume from
};

/// Checks and prepares the run directory according to spec.run.resume. For a new start, or a return to an
/// earlier checkpoint, removes the run's obsolete files, and no others. Writes config.resolved.json. Expects
/// the run lock to be held. Throws ConfigError, InputError, WriteError.
RunStart start_run(const std::filesystem::path& run_directory, const LoopSpec& spec);

/// Throws ConfigError naming the first changed option, and how to start `afresh`.
void require_same_options(const Json& before, const Json& now,
                          const std::string& afresh = "--resume never --force");

/// The result of a run that was finished before.
LoopResult finished_result(const std::filesystem::path& run_directory, const LoopSpec& spec);

}  // namespace bigbird::training
