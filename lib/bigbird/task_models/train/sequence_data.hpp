// SPDX-License-Identifier: Apache-2.0
// Labeled records (build-sequences), for training networks that read complete records or a window around
// their middle.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/motifs/motif_files.hpp"
#include "bigbird/task_models/network/task_network.hpp"
#include "bigbird/task_models/train/example_data.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bigbird::task_models {

// Initializes filters of a sequence network with motifs of the records of a class or label.

/// Replaces the first filters of each member by at most `most` motifs (bins::find_motifs), found in at most a
/// few thousand rows of train, drawn by `seed`. Returns these motifs. Does nothing for networks other than
/// SequenceNetwork, and for numbers.
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

/// Training data of records, with any target.
class SequenceData : public ExampleData {
public:
    /// See ExampleData. `standardisation`: scale of the numbers; nullopt: the numbers are counts.
    SequenceData(std::shared_ptr<const TaskNetwork> network, const examples::ExampleSet& examples,
                 const ClassifierSpec& spec, const SequenceSpec& sequence,
                 std::optional<Standardisation> standardisation, int threads = 1);

    std::unique_ptr<Target> target(const at::Device& device) const override;
    void start(TaskNetwork& network, const Target& target, bool speaks) const override;
    /// A record is shifted by some bases: N fills the gap at one end.
    Batch train(std::int64_t begin, std::int64_t end) override;
    double weight(std::int64_t begin, std::int64_t end) const override;
    ScoredRows score(const TaskNetwork& network, const Target& target, const Batch& batch,
                     std::int64_t batch_tokens) const override;

protected:
    at::Tensor targets_of(std::span<const std::int64_t> rows) const override;

private:
    SequenceSpec sequence_;
    std::optional<Standardisation> standardisation_;
    std::int64_t shift_;
    int threads_;
};

}  // namespace bigbird::task_models
