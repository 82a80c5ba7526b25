// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/model/bigbird.hpp"
#include "bigbird/scoring/batched_logits.hpp"
#include "bigbird/scoring/encoded_examples.hpp"
#include "bigbird/tasks/examples.hpp"
#include "bigbird/tokenizer/tokenizer.hpp"
#include "bigbird/train/training_loop.hpp"

#include <cstdint>
#include <filesystem>
#include <vector>

namespace bigbird::scoring {

struct ClassifierSpec {
    std::int64_t batch_size = 32;  ///< windows a step
    double positive_weight = 1;    ///< of a 1 in the loss, against a 0
    Pooling pooling = Pooling::cls;
    bool both_strands = false;          ///< each window on a strand drawn for (seed, epoch, row)
    std::int64_t batch_tokens = 16384;  ///< padded tokens that go through the network at once
    std::uint64_t seed = 0;
    int threads = 1;  ///< for encoding
};

/// Fine-tuning on labelled windows: every label a sigmoid of its own, binary cross entropy averaged over
/// windows and labels (bigbird.md 4, F.2 and F.3). Windows come in an order shuffled anew for each epoch, a
/// function of (seed, epoch); step s takes the next batch_size of them, across epochs' ends. Each batch is
/// split into groups of equal block count, which changes neither loss nor dropout masks.
class ClassifierTask : public train::TrainingTask {
public:
    /// Encodes the rows of train and validation. `examples` must outlive this. Throws InputError where no
    /// window of train can be used.
    ClassifierTask(model::SequenceClassifier network, tokenizer::DnaTokenizer tokenizer,
                   const tasks::ExampleSet& examples, const ClassifierSpec& spec, const at::Device& device);

    torch::nn::Module& module() override { return *network_; }
    train::StepStats accumulate(std::int64_t step) override;
    /// "eval_loss", "eval_auroc" (mean over the labels that have it; null where none has) and
    /// "eval_auroc_labels" on the windows of validation; an empty object where there are none.
    Json evaluate() override;
    /// config.json, model.safetensors, tokenizer.model and labels.tsv.
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
    /// (rows, labels) float32 on the device.
    at::Tensor targets(const EncodedExamples& windows, const std::vector<std::int64_t>& indices) const;
    /// Sum over windows and labels.
    at::Tensor loss_sum(const at::Tensor& logits, const at::Tensor& targets) const;

    model::SequenceClassifier network_;
    tokenizer::DnaTokenizer tokenizer_;
    const tasks::ExampleSet& examples_;
    ClassifierSpec spec_;
    at::Device device_;
    EncodedExamples training_, validation_;
    at::Tensor positive_weight_;  // (1)
    std::int64_t order_epoch_ = -1;
    std::vector<std::int64_t> order_;  // of the epoch order_epoch_
};

/// 0 … count-1 in the order of an epoch: Fisher-Yates, a function of (seed, epoch, count).
std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

}  // namespace bigbird::scoring
