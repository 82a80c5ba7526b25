// SPDX-License-Identifier: Apache-2.0
// The loop that every training shares: schedule, optimizer, metrics, checkpoints, resuming and stopping. A
// run directory holds
//   lock  config.resolved.json  metrics.jsonl  tensorboard/  checkpoints/step-…/
// and, once the run is complete, model/.
#pragma once

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/training/device/autocast.hpp"
#include "bigbird/training/optimizer.hpp"
#include "bigbird/training/ranks/ranks.hpp"
#include "bigbird/training/specs/run_spec.hpp"

#include <torch/nn/module.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::training {

/// Statistics of one step, or this rank's share; the loop adds up the ranks'. Tensors are 0-dim, any floating
/// type, on any device; the loop reads them all with one transfer.
struct StepStats {
    at::Tensor loss;  ///< loss of the global batch, detached
    std::vector<std::pair<std::string, at::Tensor>>
        metrics;              ///< further metrics for metrics.jsonl, in this order: "mlm_loss", …
    std::int64_t tokens = 0;  ///< real tokens, without padding; 0: not counted, as for bin models
    std::int64_t sequences = 0;
    std::int64_t padded_tokens = 0;  ///< tokens with padding; 0: unknown
    double operations = 0;           ///< floating-point operations of the model; 0: unknown
    double wait_seconds = 0;         ///< seconds spent waiting for data
};

/// The task to train. All random choices of a step must be functions of its number and the seeds, so that a
/// run resumes exactly; other state goes through state() and restore(). Called from one thread.
class TrainingTask {
public:
    virtual ~TrainingTask() = default;

    virtual torch::nn::Module& module() = 0;
    /// Forward and backward over the global batch of `step` (from 1), in as many micro-batches as needed.
    /// Gradients are undefined before; afterwards .grad holds the gradients of a loss normalized over the
    /// global batch. Sets the training mode itself. Changes nothing that write_model(),
    /// write_training_state() and state() read: after a stop signal, another thread calls these meanwhile and
    /// drops the step.
    virtual StepStats accumulate(std::int64_t step) = 0;
    /// Called after `step` has updated the parameters.
    virtual void made(std::int64_t step) { static_cast<void>(step); }
    /// Metrics on held-out data, as an object with "eval_loss"; called every LoopSpec::evaluate_every steps
    /// and after the last one. Another thread may write the model meanwhile, as in accumulate().
    virtual Json evaluate() { return Json::object(); }
    /// Writes the model folder's files (config.json, model.safetensors …) into an existing folder.
    virtual void write_model(const std::filesystem::path& directory) = 0;
    /// Writes further data of a checkpoint, besides the model folder's files and state(), into its
    /// training_state/.
    virtual void write_training_state(const std::filesystem::path& directory) {
        static_cast<void>(directory);
    }
    virtual Json state() const { return Json::object(); }
    virtual void restore(const Json& state) { static_cast<void>(state); }
    /// Loads model.safetensors of a checkpoint into module(), exactly. The loop calls it on resuming; the
    /// default reads all named parameters and buffers by their names.
    virtual void read_model(const std::filesystem::path& directory);
};

/// Chooses the best evaluation, of equal ones that with the lowest "eval_loss": its checkpoint is kept and
/// becomes model/. Without it model/ is the last step's.
struct Selection {
    std::string metric = "eval_loss";
    bool higher_is_better = false;
    std::int64_t patience = 0;  ///< stop after this many evaluations without improvement; 0: never
};

/// The result of a run, for its model card.
struct TrainedModel {
    std::filesystem::path folder;  ///< with all its files except the card
    std::int64_t step = 0;
    Json evaluation = Json::object();  ///< of this step, as TrainingTask::evaluate() gave it; empty: none
};

struct LoopSpec {
    RunSpec run;
    LearningRateSpec learning_rate;  ///< total_steps is the run's length
    OptimizerSpec optimizer;
    std::int64_t evaluate_every = 0;  ///< steps; 0: never
    std::optional<Selection> selection;
    /// Settings that change the result, by the option's name ("--batch-size": 8, "--documents": its sha256).
    /// They are written to config.resolved.json and must be the same on resuming, but for a longer run
    /// (start_run()). Paths, threads and devices are not included.
    Json fixed_options = Json::object();
    /// Settings that do not change the result ("--keep", "--checkpoint-every"); only recorded.
    Json free_options = Json::object();
    std::string memory_advice = "give a smaller batch";        ///< advice for those who run out of memory
    std::shared_ptr<Ranks> ranks = std::make_shared<Ranks>();  ///< ranks that train together
    ComputeType compute = ComputeType::fp32;                   ///< what `mfu` is measured against
    /// Returns the text of model/README.md; empty function: no such file.
    std::function<std::string(const TrainedModel&)> card;
    /// Whether a step's losses are read while the next step computes, so that a GPU never waits for the host;
    /// a step to skip is then detected one step later. nullopt: only on GPUs. Does not change the result.
    std::optional<bool> read_late;
};

struct LoopResult {
    std::int64_t steps = 0;          ///< total number, by this and earlier processes
    std::int64_t skipped_steps = 0;  ///< steps skipped because loss or gradient was not finite
    bool finished_before = false;    ///< the run was complete already; nothing was done
    double last_loss = 0;
    std::optional<std::int64_t> best_step = std::nullopt;
    std::filesystem::path model = {};  ///< RUN/model
};

/// The result of a run that is already finished, so that the data need not be read; nullopt if it is not
/// finished, or goes on for more steps. Call it before expensive preparations: takes no lock, throws
/// ConfigError if run_training() would refuse at once (existing run with "never", changed options, resume
/// path missing). All ranks call it, and the first rank's result is used.
std::optional<LoopResult> finished_run(const std::filesystem::path& run_directory, const LoopSpec& spec);

/// Writes the card, if there is one, into the folder of the model. Throws WriteError.
void write_card(const LoopSpec& spec, const TrainedModel& model);

/// The message when memory runs out.
std::string out_of_memory(const LoopSpec& spec);

/// Trains to the end. With the same task, spec and threads an interrupted and resumed run equals an
/// uninterrupted one bit for bit on the CPU. Throws Stopped after writing a checkpoint (signal: 130 or 143;
/// max_hours: 75). Throws ConfigError (run locked, options changed, output refused, twenty steps in a row not
/// finite), InputError (checkpoint damaged), WriteError, DeviceError (out of memory, another rank lost). With
/// ranks, all ranks call it. Only the first accesses the run directory, and a signal to any rank stops all.
LoopResult run_training(TrainingTask& task, const LoopSpec& spec, const std::filesystem::path& run_directory);

}  // namespace bigbird::training
