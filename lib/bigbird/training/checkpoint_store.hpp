// SPDX-License-Identifier: Apache-2.0
// Checkpoints of a run: RUN/checkpoints/step-00001000/ is a model folder (config.json, model.safetensors,
// tokenizer.model …). Its training_state/ has optimizer.safetensors, state.json and sha256.txt (a `sha256sum
// -c` list of all other files of the folder). A checkpoint appears under its name only when complete and on
// disk.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/model/safetensors.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

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
    bool extended = false;        ///< went on for more steps than it was started with
    bool evaluation_due = false;  ///< stopped during the evaluation after `step`

    Json to_json() const;
    /// Throws Json::exception if a value has the wrong type, or a count is negative or above 10^15.
    static RunPosition from_json(const Json& json, std::int64_t step);
};

/// The position that state.json of a checkpoint (Checkpoint::state) gives. Throws InputError.
RunPosition position_of(const Json& state, const std::filesystem::path& checkpoint);

struct Checkpoint {
    std::filesystem::path directory;
    std::int64_t step = 0;
    Json state;                  ///< the state that was passed to write()
    model::TensorMap optimizer;  ///< on the CPU
};

/// One process at a time (RunLock). Not thread-safe.
class CheckpointStore {
public:
    /// Keeps the newest `keep` checkpoints (at least 1). Does not create files yet.
    CheckpointStore(std::filesystem::path run_directory, int keep);

    /// Writes the checkpoint of `step` (state gets "step"), then removes the ones not kept. `write_model`
    /// writes into the given folder. Throws WriteError; earlier checkpoints are then unchanged.
    std::filesystem::path write(std::int64_t step, Json state, const model::TensorMap& optimizer,
                                const std::function<void(const std::filesystem::path&)>& write_model);
    /// Copies the checkpoint of a step from another run's folder of checkpoints. Returns false if neither run
    /// has it complete. Throws WriteError.
    bool adopt(std::int64_t step, const std::filesystem::path& checkpoints);
    /// Never removes the checkpoint of this step: the best one so far.
    void protect(std::int64_t step) { protected_ = step; }

    /// The newest complete checkpoint; warns about each newer damaged one. Returns nullopt if there is no
    /// checkpoint; throws InputError if none is complete.
    std::optional<Checkpoint> latest() const;
    /// Removes the checkpoints after `step`, which belong to an abandoned continuation, and leftovers of
    /// killed processes.
    void drop_after(std::int64_t step);

    /// Steps of the existing checkpoints, ascending; not checked.
    std::vector<std::int64_t> steps() const;
    std::filesystem::path directory_of(std::int64_t step) const;

    /// Reads and checks one checkpoint folder. Throws InputError saying what is missing or damaged.
    static Checkpoint open(const std::filesystem::path& directory);

private:
    void prune();

    std::filesystem::path root_;
    int keep_;
    std::int64_t protected_ = -1;
};

/// Finds the folder with config.json for `path`: itself (a model folder or a checkpoint), a finished run's
/// model/, else a run's newest checkpoint (which is logged). Throws InputError if there is none.
std::filesystem::path find_model(const std::filesystem::path& path);

}  // namespace bigbird::training
