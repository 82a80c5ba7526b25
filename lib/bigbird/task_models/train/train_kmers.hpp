// SPDX-License-Identifier: Apache-2.0
// Regression on the k-mers of records: logistic for classes and labels, ridge for numbers. The floor that
// networks of sequences are compared with, and a part of their mean.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/task_models/network/sequence_network.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <memory>
#include <optional>

namespace bigbird::task_models {

/// Which k-mers are counted: 5- and 6-mers (or `word`-mers) of both strands as one; where the strand is
/// given, of the record's strand, with dinucleotides by their place (at most 1,024 places from the start).
baselines::KmerWords words_for(const examples::ExampleSet& examples, RecordStrand strand, int word,
                               bool ridge);

struct KmerFit {
    std::shared_ptr<SequenceNetwork> network;
    double penalty = 0;
    double loss = 0;  ///< on validation: 1 - mean AUROC, or the squared error; 0 where it was not scored
};

/// Fits train with the penalty that serves validation best (mean AUROC, or squared error), where `penalty` is
/// 0; without rows of validation with 30 (logistic) or 1 (ridge). The logistic penalty is the inverse of
/// LIBLINEAR's C. Throws ConfigError where the
/// architecture does not fit the target, InputError without a row of train, Stopped.
KmerFit fit_kmers(const examples::ExampleSet& examples, const LinearSpec& spec, RecordStrand strand,
                  const std::optional<Standardisation>& standardisation, int threads);

/// Returns `strand`; for automatic, given where k-mers by strand and position serve validation clearly better
/// (AUROC higher by 0.01, squared error lower by 1 %) than k-mers of both strands, else both. Throws as
/// fit_kmers().
RecordStrand chosen_strand(const examples::ExampleSet& examples, RecordStrand strand,
                           const std::optional<Standardisation>& standardisation, int threads);

}  // namespace bigbird::task_models
