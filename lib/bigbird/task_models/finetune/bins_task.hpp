// SPDX-License-Identifier: Apache-2.0
// Training of a model of bins: every bin of a window in the loss.
#pragma once

#include "bigbird/task_models/bin_network.hpp"
#include "bigbird/task_models/score_calibration.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"
#include "bigbird/task_models/task_model.hpp"
#include "bigbird/task_models/windows/bin_windows.hpp"
#include "bigbird/training/training_loop.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

namespace bigbird::task_models {

/// The weights that are trained and their running average (module() holds both; the average wants no
/// gradients). Sample i of the run follows from (seed, i), so nothing else need be kept to resume.
class BinsTask : public training::TrainingTask {
public:
    /// `bins` must outlive this. Throws InputError where no bin of train counts, or where none has a label;
    /// ConfigError where ranks are left without a window. Without ranks this process is alone.
    BinsTask(std::shared_ptr<BinNetwork> network, const examples::LabelledBins& bins, TaskInfo info,
             const ClassifierSpec& spec, const BinsSpec& of_bins = {}, int threads = 1,
             std::shared_ptr<training::Ranks> ranks = nullptr);

    torch::nn::Module& module() override { return *both_; }
    training::StepStats accumulate(std::int64_t step) override;
    /// "eval_loss" (mean over bins and labels), "eval_auroc" and "eval_auprc" (means over labels),
    /// "eval_auroc_labels" of the averaged weights on the windows of validation; null where no bin of them
    /// counts.
    Json evaluate() override;
    /// The averaged weights, config.json, labels.tsv and, right after an evaluation, calibration.json.
    void write_model(const std::filesystem::path& directory) override;
    /// The weights that are trained.
    void write_training_state(const std::filesystem::path& directory) override;
    void read_model(const std::filesystem::path& checkpoint) override;

    const BinWindows& training() const { return training_; }
    const BinWindows& validation() const { return validation_; }
    /// The window that is sample `sample` of the run, from 0.
    BinWindow window_of(std::int64_t sample) const;

private:
    struct Batch {
        std::vector<EncodedWindow> windows;
        at::Tensor targets;  // (windows, window_bins, labels) float32
        at::Tensor counts;   // (windows, window_bins, 1) float32
    };
    Batch batch_of(const BinWindows& source, std::span<const BinWindow> windows) const;
    std::int64_t windows_at_once() const;
    /// Sum over the bins that count and their labels.
    at::Tensor loss_sum(const at::Tensor& logits, const Batch& batch) const;
    void start_at_base_rates();
    void start_with_motifs();
    /// Moves the average towards the weights that the last step left, once a step.
    void follow();

    std::shared_ptr<BinNetwork> network_, average_;
    bins::Grid grid_;
    std::shared_ptr<torch::nn::Module> both_;
    const examples::LabelledBins& bins_;
    TaskInfo info_;
    ClassifierSpec spec_;
    BinsSpec of_bins_;
    int threads_;
    at::Device device_;
    std::shared_ptr<training::Ranks> ranks_;
    training::Ranks::GradientSum gradients_;
    BinWindows training_, validation_;
    at::Tensor positive_weight_;                    // (1) or (labels)
    std::int64_t step_ = 0, followed_to_ = 0;       // made last; in the average
    std::optional<FittedCalibration> calibration_;  // of the average as it is
};

}  // namespace bigbird::task_models
