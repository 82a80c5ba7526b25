// SPDX-License-Identifier: Apache-2.0
// How a run directory is found at the start of a run: fresh, to be resumed, or finished. Implements --resume
// and --force.
#pragma once

#include "bigbird/training/checkpoint_store.hpp"
#include "bigbird/training/training_loop.hpp"

#include <filesystem>
#include <optional>
#include <string>

namespace bigbird::training {

inline constexpr const char* model_folder = "model";  ///< of a finished run

struct RunStart {
    bool finished = false;                                ///< model/ is there already
    std::optional<Checkpoint> checkpoint = std::nullopt;  ///< to resume from
};

/// Checks and prepares the run directory by spec.run.resume: removes what a fresh start (or going back)
/// leaves behind, nothing that is not the run's own, and writes config.resolved.json. Expects the run lock to
/// be held. Throws ConfigError, InputError, WriteError.
RunStart start_run(const std::filesystem::path& run_directory, const LoopSpec& spec);

/// Throws ConfigError naming the first option that is not what it was before, and what starts `afresh`.
void require_same_options(const Json& before, const Json& now,
                          const std::string& afresh = "--resume never --force");

/// The result of a run that was finished before.
LoopResult finished_result(const std::filesystem::path& run_directory, const LoopSpec& spec);

}  // namespace bigbird::training
