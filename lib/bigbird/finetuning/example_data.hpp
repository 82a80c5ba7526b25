// SPDX-License-Identifier: Apache-2.0
// Labeled windows (build-promoters, build-chromatin, build-tracks) and records (build-sequences), for
// training networks that read windows or complete records.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/finetuning/training_data.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::tasks {

/// The encoded windows of some rows of an example set, stored compactly: two bytes per id if all ids fit.
/// Immutable; const calls are thread-safe.
class EncodedExamples {
public:
    /// Encodes the sub-window `window` of the windows of `rows` on `threads` threads; for the task sequences,
    /// the records (record_for()). Rows whose sub-window is only N are omitted. With `both_strands`, the
    /// reverse complements are stored, too.
    EncodedExamples(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                    const TaskNetwork& network, const rows::WindowBounds& window, bool both_strands,
                    int threads);

    /// Number of stored windows, and each one's row in the example set, in the given order.
    std::int64_t size() const { return static_cast<std::int64_t>(rows_.size()); }
    std::int64_t row(std::int64_t index) const { return rows_[static_cast<std::size_t>(index)]; }
    std::int64_t truncated() const { return truncated_; }
    std::int64_t left_out() const { return left_out_; }

    /// Ids and marks of a window. `reverse` requires both strands.
    EncodedWindow window(std::int64_t index, bool reverse = false) const;

private:
    void append(const EncodedWindow& window);

    bool wide_ = false;  ///< four bytes per id
    bool both_strands_ = false;
    std::vector<std::int64_t> rows_;
    std::vector<std::int64_t> offsets_{0};  ///< window after window; two per row with both strands
    std::vector<std::uint16_t> narrow_ids_;
    std::vector<std::int32_t> wide_ids_;
    std::vector<std::pair<std::int32_t, std::int32_t>> marks_;  ///< one per window, in the order of offsets_
    std::int64_t truncated_ = 0, left_out_ = 0;
};

/// Reshuffles windows for each epoch by (seed, epoch). A step takes the next batch_size windows, across the
/// ends of epochs.
class ExampleData : public TrainingData {
public:
    /// Encodes the rows of train and validation on `threads` threads. `examples` must outlive this object.
    /// `at_base_rates`: whether the output bias starts at the labels' rates. `sequence`: loss, motifs, and
    /// how a record is shifted (N fills the gap at one end). `standardisation`: scale of the numbers;
    /// nullopt: the numbers are counts. Throws InputError if no window of train is usable.
    ExampleData(std::shared_ptr<const TaskNetwork> network, const examples::ExampleSet& examples,
                const ClassifierSpec& spec, bool at_base_rates, int threads = 1,
                const SequenceSpec& sequence = {.motifs = 0, .shift = 0},
                std::optional<Standardisation> standardisation = std::nullopt);

    const rows::LabelTable& labels() const override { return examples_.label_table(); }
    std::unique_ptr<Target> target(const at::Device& device) const override;
    void start(TaskNetwork& network, const Target& target, bool speaks) const override;
    void say(const TaskNetwork& network, std::int64_t steps, std::int64_t batch_size) const override;
    Batch train(std::int64_t begin, std::int64_t end) override;
    double weight(std::int64_t begin, std::int64_t end) const override;
    std::int64_t validation_size() const override { return validation_.size(); }
    /// The number of rows whose ids are unpacked at once.
    std::int64_t validation_chunk(std::int64_t) const override { return 1024; }
    Batch validation(std::int64_t begin, std::int64_t end) const override;

    const EncodedExamples& training() const { return training_; }
    struct Sample {
        std::int64_t index = 0;  ///< index in training()
        bool reverse = false;
        bool operator==(const Sample&) const = default;
    };
    /// Sample `number` of the run, from 0.
    Sample sample(std::int64_t number);

private:
    Batch batch_of(const EncodedExamples& windows, std::span<const Sample> samples) const;
    std::int64_t index_of(std::int64_t sample);
    /// The rate of each label; for numbers their means.
    std::vector<double> rates() const;

    const examples::ExampleSet& examples_;
    ClassifierSpec spec_;
    SequenceSpec sequence_;
    std::optional<Standardisation> standardisation_;
    bool at_base_rates_;
    int threads_;
    std::int64_t shift_;
    EncodedExamples training_, validation_;
    std::int64_t epoch_ = -1;  ///< whose order is order_
    std::vector<std::int64_t> order_;
};

/// Replaces the first filters of each member by at most `most` motifs (motifs::find_enriched), found in at
/// most a few thousand rows of train, drawn by `seed`. Returns these motifs. Does nothing for networks other
/// than SequenceNetwork, and for numbers.
motifs::MotifSet plant_motifs(TaskNetwork& network, const examples::ExampleSet& examples, std::int64_t most,
                              std::uint64_t seed, int threads);

/// Mean and deviation of the numbers of train; a number that does not vary has the deviation 1.
Standardisation standardisation_of(const examples::ExampleSet& examples);

/// The meaning of these examples' targets. ClassifierSpec gives the weights of classes and labels. Throws
/// ConfigError if positive_weight is given for more than two classes or for numbers, or if counts are
/// negative.
std::unique_ptr<Target> target_of(const examples::ExampleSet& examples, const ClassifierSpec& spec,
                                  const SequenceSpec& sequence, const at::Device& device);

/// (rows, 1, labels): 0 and 1 as bytes, or numbers as float32, standardized where `standardisation` is given.
at::Tensor targets_of_rows(const examples::ExampleSet& examples, std::span<const std::int64_t> rows,
                           const std::optional<Standardisation>& standardisation);

/// Logits of records and their truth, as Target::figures() takes them.
ScoredRows scored_records(const TaskNetwork& network, const examples::ExampleSet& examples,
                          std::span<const std::int64_t> rows,
                          const std::optional<Standardisation>& standardisation, std::int64_t batch_tokens,
                          int threads);

/// The part of a record that a network reads: the complete record, or the bases around its middle if the
/// network reads windows of one length.
std::string record_for(const TaskNetwork& network, const examples::ExampleSet& examples, std::int64_t row,
                       std::int64_t window);

/// The order of an epoch, a permutation of 0 .. count - 1 by Fisher-Yates. It depends only on (seed, epoch,
/// count).
std::vector<std::int64_t> epoch_order(std::int64_t count, std::uint64_t seed, std::int64_t epoch);

/// The part of an example's window that a network with a narrower window reads. `dna`: its sequence as in
/// ExampleSet. Requires `part` inside `bounds`.
std::string_view cut_window(std::string_view dna, const rows::WindowBounds& bounds,
                            const rows::WindowBounds& part);

}  // namespace bigbird::tasks
