// SPDX-License-Identifier: Apache-2.0
// Training data of a network: windows by sample number, and the targets of their logits.
#pragma once

#include "bigbird/rows/label_table.hpp"
#include "bigbird/tasks/target.hpp"
#include "bigbird/tasks/task_network.hpp"

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace bigbird::tasks {

/// CPU tensors, uint8 for labels and float32 for numbers. targets: (windows, segments, labels); counts:
/// (windows, segments, 1), undefined if every segment counts.
struct Wanted {
    at::Tensor targets, counts;
};

struct Batch {
    std::vector<EncodedWindow> windows;
    Wanted wanted;                                  ///< for networks of windows and bins
    std::vector<std::vector<std::int32_t>> labels;  ///< label of each base, -1 where it does not count
};

/// The counted rows of a batch of validation.
struct ScoredRows {
    at::Tensor logits, truth;  ///< as Target::figures() takes them
    double loss = 0;           ///< Target::loss_sum()
};

/// Sample i of a run follows from (seed, i), so that a run resumes exactly.
class TrainingData {
public:
    virtual ~TrainingData() = default;

    virtual const rows::LabelTable& labels() const = 0;
    virtual std::unique_ptr<Target> target(const at::Device& device) const = 0;
    /// Sets the network's initial bias and motifs. `speaks`: whether to log it.
    virtual void start(TaskNetwork& network, const Target& target, bool speaks) const = 0;
    /// Logs the training data, for `steps` steps of `batch_size` windows.
    virtual void say(const TaskNetwork& network, std::int64_t steps, std::int64_t batch_size) const = 0;

    /// Samples [begin, end) of the run, from 0.
    virtual Batch train(std::int64_t begin, std::int64_t end) = 0;
    /// The divisor of Target::loss_sum() of these samples.
    virtual double weight(std::int64_t begin, std::int64_t end) const = 0;
    /// The index of a sample's dropout mask in its step. `first`: the step's first sample. `place`: the
    /// sample's offset from it.
    virtual std::int64_t dropout_sample(std::int64_t first, std::int64_t place) const {
        static_cast<void>(first);
        return place;
    }
    /// The targets of a group of the batch, whose logits have `segments` segments.
    virtual Wanted wanted(const Batch& batch, std::span<const std::size_t> group,
                          std::int64_t segments) const;

    /// Number of validation windows, and how many are kept in memory at once.
    virtual std::int64_t validation_size() const = 0;
    virtual std::int64_t validation_chunk(std::int64_t batch_tokens) const = 0;
    /// Windows [begin, end) of validation.
    virtual Batch validation(std::int64_t begin, std::int64_t end) const = 0;
    virtual ScoredRows score(const TaskNetwork& network, const Target& target, const Batch& batch,
                             std::int64_t batch_tokens) const;
};

/// Sets the network's output bias to Target::bias_at() of `rates`.
void start_at(const std::vector<double>& rates, TaskNetwork& network, const Target& target);

}  // namespace bigbird::tasks
