// SPDX-License-Identifier: Apache-2.0
// Labeled windows (build-promoters, build-chromatin) to train networks of windows on.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"
#include "bigbird/task_models/train/training_data.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::task_models {

/// The windows of some rows of an example set as a network reads them, held compactly: two bytes per id where
/// all ids fit. Immutable once made; const calls are thread-safe.
class EncodedExamples {
public:
    /// Encodes the part `window` of the windows of `rows` on `threads` threads, of sequences the records
    /// (record_for). Rows where it is all N are left out. With `both_strands` the reverse complements are
    /// held too.
    EncodedExamples(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                    const TaskNetwork& network, const rows::WindowBounds& window, bool both_strands,
                    int threads);

    /// Windows held, and each one's row of the example set, ascending as given.
    std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
    std::int64_t row(std::int64_t index) const { return rows_[static_cast<std::size_t>(index)]; }
    std::int64_t truncated() const { return truncated_; }
    std::int64_t left_out() const { return left_out_; }

    /// Ids and marks of a window. `reverse` needs both strands.
    EncodedWindow window(std::int64_t index, bool reverse = false) const;

private:
    void append(const EncodedWindow& window);
    void widen();

    bool wide_ = false;  ///< four bytes per id
    bool both_strands_ = false;
    std::vector<std::int64_t> rows_;
    std::vector<std::int64_t> offsets_{
        0};  ///< one window after the other; with both strands two for each row
    std::vector<std::uint16_t> narrow_ids_;
    std::vector<std::int32_t> wide_ids_;
    std::vector<std::pair<std::int32_t, std::int32_t>> marks_;  ///< a window each, as offsets_
    std::int64_t truncated_ = 0, left_out_ = 0;
};

/// Windows are reshuffled for each epoch by (seed, epoch); a step takes the next batch_size of them, across
/// epochs' ends.
class ExampleData : public TrainingData {
public:
    /// Encodes the rows of train and validation on `threads` threads. `examples` must outlive this.
    /// `at_base_rates`: whether the output bias starts there. Throws InputError where no window of train can
    /// be used, ConfigError where the sampling needs missing rows.
    ExampleData(std::shared_ptr<const TaskNetwork> network, const examples::ExampleSet& examples,
                const ClassifierSpec& spec, bool at_base_rates, int threads = 1);

    const rows::LabelTable& labels() const override { return examples_.label_table(); }
    std::unique_ptr<Target> target(const at::Device& device) const override;
    void start(TaskNetwork& network, const Target& target, bool speaks) const override;
    void say(const TaskNetwork& network, std::int64_t steps, std::int64_t batch_size) const override;
    Batch train(std::int64_t begin, std::int64_t end) override;
    double weight(std::int64_t begin, std::int64_t end) const override;
    std::int64_t validation_size() const override { return validation_.size(); }
    std::int64_t validation_chunk(std::int64_t batch_tokens) const override;
    Batch validation(std::int64_t begin, std::int64_t end) const override;

    const EncodedExamples& training() const { return training_; }
    struct Sample {
        std::int64_t index = 0;  ///< index in training()
        bool reverse = false;
        bool operator==(const Sample&) const = default;
    };
    /// Sample `number` of the run, from 0.
    Sample sample(std::int64_t number);

protected:
    /// Wanted::targets of rows of the examples.
    virtual at::Tensor targets_of(std::span<const std::int64_t> rows) const;
    const examples::ExampleSet& examples() const { return examples_; }
    const ClassifierSpec& spec() const { return spec_; }

private:
    Batch batch_of(const EncodedExamples& windows, std::span<const Sample> samples) const;
    std::int64_t index_of(std::int64_t sample);
    const std::vector<std::int64_t>& order(std::size_t pool, std::int64_t size, std::int64_t epoch);

    const examples::ExampleSet& examples_;
    ClassifierSpec spec_;
    bool at_base_rates_;
    EncodedExamples training_, validation_;
    std::vector<std::int64_t> with_label_, without_;  // windows of train, for Sampling::balanced
    struct Order {
        std::int64_t epoch = -1;
        std::vector<std::int64_t> indices;
    };
    std::array<Order, 3> orders_;  // of all windows, of with_label_, of without_: the epoch in use
};

/// A row of sequences as a network reads it: the record or, where the network reads windows of one length, as
/// many bases about its middle.
std::string record_for(const TaskNetwork& network, const examples::ExampleSet& examples, std::int64_t row,
                       std::int64_t window);

/// 0 … count-1 in the order of an epoch: Fisher-Yates, a function of (seed, epoch, count).
std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

/// The part of an example's window (its sequence as ExampleSet gives it) that a network of a narrower window
/// sees. Expects `part` inside `bounds`.
std::string_view cut_window(std::string_view dna, const rows::WindowBounds& bounds,
                            const rows::WindowBounds& part);

}  // namespace bigbird::task_models
