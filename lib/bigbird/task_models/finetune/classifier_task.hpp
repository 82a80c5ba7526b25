// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/evaluation/metrics.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/task_models/score_calibration.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"
#include "bigbird/task_models/windows/encoded_examples.hpp"
#include "bigbird/task_models/windows/window_network.hpp"
#include "bigbird/training/training_loop.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::task_models {

constexpr double largest_balanced_weight = 100;

/// Zeros / ones of each label in train, 1 where it has no ones, at most largest_balanced_weight.
std::vector<double> balanced_weights(const examples::ExampleSet& examples);

/// Fine-tuning on labelled windows: every label a sigmoid of its own, binary cross entropy averaged over
/// windows and labels (bigbird.md 4, F.2 and F.3). Windows come in an order shuffled anew for each epoch, a
/// function of (seed, epoch); step s takes the next batch_size of them, across epochs' ends. Each rank
/// takes its share of a batch and splits it into groups (WindowNetwork::group), which changes neither loss
/// nor dropout masks.
class ClassifierTask : public training::TrainingTask {
public:
    /// Encodes the rows of train and validation on `threads` threads. `examples` must outlive this; without
    /// ranks this process is alone. Throws InputError where no window of train can be used.
    ClassifierTask(std::shared_ptr<WindowNetwork> network, const examples::ExampleSet& examples,
                   const ClassifierSpec& spec, int threads = 1,
                   std::shared_ptr<training::Ranks> ranks = nullptr);

    /// Sets the output bias to what predicts best without looking at a window: the weighted log odds of each
    /// label among the windows as they are drawn. Labels are rare, and a step moves a bias by no more than
    /// the learning rate; so without this the layers before learn a constant first.
    void start_at_base_rates();

    torch::nn::Module& module() override { return network_->module(); }
    training::StepStats accumulate(std::int64_t step) override;
    /// "eval_loss", "eval_auroc" (mean over the labels with at least 10 positives, or over all that
    /// have one where none has 10; null where none has it) and "eval_auroc_labels", how many, on the windows
    /// of validation; an empty object where there are none.
    Json evaluate() override;
    /// WindowNetwork::write's files, labels.tsv and, right after an evaluation, calibration.json.
    void write_model(const std::filesystem::path& directory) override;

    const EncodedExamples& training() const { return training_; }
    const EncodedExamples& validation() const { return validation_; }

    /// One window of a step.
    struct Sample {
        std::int64_t index = 0;  ///< in training()
        bool reverse = false;
        bool operator==(const Sample&) const = default;
    };
    std::vector<Sample> samples_of(std::int64_t step);

private:
    /// (rows, labels) bytes on the CPU.
    at::Tensor targets(const EncodedExamples& windows, const std::vector<std::int64_t>& indices) const;
    /// Sum over windows and labels.
    static at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets,
                               const at::Tensor& positive_weight);

    std::int64_t epoch_of(std::int64_t sample) const { return sample / training_.size(); }
    /// The window that sample `sample` of the run, from 0, is.
    std::int64_t index_of(std::int64_t sample);
    const std::vector<std::int64_t>& order(std::size_t pool, std::int64_t size, std::int64_t epoch);

    std::shared_ptr<WindowNetwork> network_;
    const examples::ExampleSet& examples_;
    ClassifierSpec spec_;
    std::shared_ptr<training::Ranks> ranks_;
    training::Ranks::GradientSum gradients_;
    EncodedExamples training_, validation_;
    at::Tensor positive_weight_;  // (1) or (labels), on the device
    int threads_;
    std::optional<FittedCalibration> calibration_;    // of the weights as they are
    std::vector<std::int64_t> with_label_, without_;  // windows of train, for Sampling::balanced
    struct Order {
        std::int64_t epoch = -1;
        std::vector<std::int64_t> places;
    };
    std::array<Order, 3> orders_;  // of all windows, of with_label_, of without_: the epoch in use
};

/// AUROCs of float32 scores against 0 and 1, (rows, labels) both, of the labels that have one and at least 10
/// positives; where none has so many, of all that have one.
evaluation::Summary validation_auroc(const at::Tensor& scores, const at::Tensor& truth);

/// WindowNetwork::write's files and labels.tsv into an existing folder. Throws WriteError.
void write_task_model(const WindowNetwork& network, const rows::LabelTable& labels,
                      const std::filesystem::path& directory);

/// 0 … count-1 in the order of an epoch: Fisher-Yates, a function of (seed, epoch, count).
std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

}  // namespace bigbird::task_models
