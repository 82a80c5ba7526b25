// SPDX-License-Identifier: Apache-2.0
// Training of any network on any data: one step and one evaluation.
#pragma once

#include "bigbird/finetuning/training_data.hpp"
#include "bigbird/model/adapter.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"
#include "bigbird/training/training_loop.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>

namespace bigbird::tasks {

/// The adapters that a specification asks for.
inline model::LoraForm lora_of(const LoraSpec& spec) {
    return {.rank = spec.rank, .alpha = spec.alpha_or_default(), .dropout = spec.dropout};
}

/// Each rank takes its share of a batch and splits it into groups (TaskNetwork::group), which changes neither
/// loss nor dropout masks. With `averaging`, the model is the running average of the weights with this decay
/// per step (0: the last weights). module() contains both, and the average has no gradients.
class TrainTask : public training::TrainingTask {
public:
    /// Without ranks, only this process trains. Throws ConfigError if a rank would get no window.
    TrainTask(std::shared_ptr<TaskNetwork> network, std::unique_ptr<TrainingData> data, TaskInfo info,
              const ClassifierSpec& spec, std::optional<double> averaging = std::nullopt, int threads = 1,
              std::shared_ptr<training::Ranks> ranks = std::make_shared<training::Ranks>());

    torch::nn::Module& module() override { return *module_; }
    training::StepStats accumulate(std::int64_t step) override;
    /// Updates the average with the weights after the step.
    void made(std::int64_t step) override;
    /// Target::figures() of validation.
    Json evaluate() override;
    /// TaskNetwork::write()'s files, labels.tsv and, right after an evaluation on the first rank,
    /// calibration.json. Adapters are merged there, and in the folder adapter/ as peft reads them.
    void write_model(const std::filesystem::path& directory) override;
    /// Writes what write_model() does not hold: the weights if it writes their average; adapters, which it
    /// merges, and their average.
    void write_training_state(const std::filesystem::path& directory) override;
    void read_model(const std::filesystem::path& checkpoint) override;

    const TrainingData& data() const { return *data_; }

private:
    const TaskNetwork& trained() const { return average_ ? *average_ : *network_; }
    /// The rows of all ranks, in the order of ranks.
    ScoredRows of_all_ranks(ScoredRows own) const;

    std::shared_ptr<TaskNetwork> network_;
    std::shared_ptr<TaskNetwork> average_;
    std::shared_ptr<torch::nn::Module> module_;
    std::unique_ptr<TrainingData> data_;
    std::unique_ptr<Target> target_;
    TaskInfo info_;
    std::int64_t batch_size_, batch_tokens_;
    std::uint64_t seed_;
    bool calibrates_;
    LoraSpec lora_;
    double averaging_;
    int threads_;
    std::shared_ptr<training::Ranks> ranks_;
    training::Ranks::GradientSum gradients_;
    std::mutex calibration_mutex_;
    std::optional<FittedCalibration> calibration_;  // of the current weights
    bool told_uncalibrated_ = false;
};

}  // namespace bigbird::tasks
