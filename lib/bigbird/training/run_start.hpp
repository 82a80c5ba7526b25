// SPDX-License-Identifier: Apache-2.0
// Determines the state of a run directory at the start of a run: new, to be resumed, or finished. Implements
// --resume and --force.
#pragma once

#include "bigbird/training/checkpoint_store.hpp"
#include "bigbird/training/training_loop.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace bigbird::training {

/// Holds RUN/lock with flock() while the object exists; the kernel releases it whenever the process ends.
/// Makes the folder and the file, and removes them if nothing else was put into the folder.
class RunLock {
public:
    /// Throws ConfigError if another process holds it or the folder cannot be written.
    explicit RunLock(const std::filesystem::path& run_directory);
    ~RunLock();
    RunLock(const RunLock&) = delete;
    RunLock& operator=(const RunLock&) = delete;

private:
    void remove_if_unused() const noexcept;

    std::filesystem::path directory_;
    bool folder_is_ours_ = false;
    int handle_ = -1;
};

inline constexpr const char* model_folder = "model";  ///< of a finished run

struct RunStart {
    bool finished = false;                                ///< model/ exists already
    std::optional<Checkpoint> checkpoint = std::nullopt;  ///< to resume from
};

/// Checks and prepares the run directory according to spec.run.resume. For a new start, or a return to an
/// earlier checkpoint, removes the run's obsolete files, and no others. With more --steps than before, even a
/// finished run goes on from its newest checkpoint, as if it had just been stopped there; its model is
/// removed, and of a run solved at once (no `checkpoints`) nothing else is needed. Writes
/// config.resolved.json. Expects the run lock to be held. Throws ConfigError, InputError, WriteError.
RunStart start_run(const std::filesystem::path& run_directory, const LoopSpec& spec, bool checkpoints = true);

/// Throws ConfigError naming the first changed option, and how to start `afresh`.
void require_same_options(const Json& before, const Json& now, const std::string& afresh = "--force");

/// The result of a run that was finished before.
LoopResult finished_result(const std::filesystem::path& run_directory, const LoopSpec& spec);

/// A model that is solved in closed form instead of trained step by step.
struct Solution {
    Json metrics;  ///< the one line of metrics.jsonl, with "step"
    std::function<void(const std::filesystem::path& directory)> write_model;  ///< into an existing folder
};

/// "eval_auroc 0.75, penalty 0.01, strand both": figures, but for the step.
std::string sentence_of(const Json& metrics);

/// Makes the run folder of a model solved in closed form: lock, config.resolved.json, metrics.jsonl of one
/// line and model/, without checkpoints. `solve` is not called if the run is already finished. Throws what
/// run_training() throws and what `solve` throws.
LoopResult solve_run(const LoopSpec& spec, const std::filesystem::path& run_directory,
                     const std::function<Solution()>& solve);

}  // namespace bigbird::training
