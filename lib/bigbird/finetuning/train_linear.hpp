// SPDX-License-Identifier: Apache-2.0
// The linear baselines of windows: ridge regression and a support vector machine on k-mers. Regression on the
// k-mers of records: logistic for classes and labels, ridge for numbers; it is the baseline of sequence
// networks, and a part of their mean.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/tasks/bases_network.hpp"
#include "bigbird/tasks/sequence_network.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"
#include "bigbird/training/run_start.hpp"

#include <cstdint>
#include <memory>
#include <optional>

namespace bigbird::tasks {

/// A model that is complete without further training.
struct SolvedModel {
    std::shared_ptr<TaskNetwork> network{};
    Json metrics =
        Json::object();  ///< for metrics.jsonl: the chosen settings, and with validation "eval_auroc"
    std::optional<FittedCalibration> calibration{};  ///< on the rows of validation, if any
};

/// The time in seconds that kmer-ridge takes for train, from that of a few random rows with as many features.
double ridge_seconds(const examples::ExampleSet& examples);

/// The run's result, whose model folder also gets labels.tsv and, if it `calibrates`, calibration.json.
training::Solution solution_of(SolvedModel solved, TaskInfo info,
                               std::shared_ptr<const examples::ExampleSet> examples, bool calibrates);

/// Solves for all labels. `info` gets its description (TaskInfo::network). `positive_weight` (none: balanced)
/// weights gkm-svm's positives; kmer-ridge ignores it. Windows of gkm-svm are drawn by `seed`: those with a
/// label, up to half of most_windows, and others. Throws InputError if no window of train can be used,
/// ConfigError for impossible k-mers, Stopped.
SolvedModel train_linear(TaskInfo& info, const examples::ExampleSet& examples, const LinearSpec& spec,
                         const std::optional<double>& positive_weight, std::uint64_t seed, int threads);

/// The k-mers to count: 5- and 6-mers (or `word`-mers), with both strands joined. If the strand is given:
/// those of the record's strand, and dinucleotides by position (at most 1,024 positions from the start).
baselines::KmerWords words_for(const examples::ExampleSet& examples, RecordStrand strand, int word,
                               bool ridge);

struct KmerFit {
    std::shared_ptr<SequenceNetwork> network;
    double penalty = 0;
    double loss = 0;  ///< on validation: 1 - mean AUROC, or the squared error; 0 without validation
};

/// Fits train, with the penalty that is best on validation (mean AUROC, or squared error); without validation
/// rows, 30 (logistic) or 1 (ridge). The logistic penalty is the inverse of LIBLINEAR's C. `word`:
/// words_for(). Throws ConfigError if the architecture does not match the target, InputError without a row of
/// train, Stopped.
KmerFit fit_kmers(const examples::ExampleSet& examples, int word, RecordStrand strand,
                  const std::optional<Standardisation>& standardisation, int threads);

/// Returns `strand`. For automatic, returns given if k-mers by strand and position are clearly better on
/// validation (AUROC higher by 0.01, squared error lower by 1 %) than k-mers of both strands, else both.
/// Throws as fit_kmers().
RecordStrand chosen_strand(const examples::ExampleSet& examples, RecordStrand strand,
                           const std::optional<Standardisation>& standardisation, int threads);

}  // namespace bigbird::tasks
