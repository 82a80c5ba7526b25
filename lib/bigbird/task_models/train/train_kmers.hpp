// SPDX-License-Identifier: Apache-2.0
// Regression on the k-mers of records: logistic for classes and labels, ridge for numbers. It is the baseline
// of sequence networks, and a part of their mean.
#pragma once

#include "bigbird/examples/examples.hpp"
#include "bigbird/task_models/network/sequence_network.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <memory>
#include <optional>

namespace bigbird::task_models {

/// The k-mers to count: 5- and 6-mers (or `word`-mers), with both strands joined. If the strand is given:
/// those of the record's strand, and dinucleotides by position (at most 1,024 positions from the start).
baselines::KmerWords words_for(const examples::ExampleSet& examples, RecordStrand strand, int word,
                               bool ridge);

struct KmerFit {
    std::shared_ptr<SequenceNetwork> network;
    double penalty = 0;
    double loss = 0;  ///< on validation: 1 - mean AUROC, or the squared error; 0 without validation
};

/// Fits train. If `penalty` is 0, uses the penalty that is best on validation (mean AUROC, or squared error);
/// without validation rows, 30 (logistic) or 1 (ridge). The logistic penalty is the inverse of LIBLINEAR's C.
/// Throws ConfigError if the architecture does not match the target, InputError without a row of train,
/// Stopped.
KmerFit fit_kmers(const examples::ExampleSet& examples, const LinearSpec& spec, RecordStrand strand,
                  const std::optional<Standardisation>& standardisation, int threads);

/// Returns `strand`. For automatic, returns given if k-mers by strand and position are clearly better on
/// validation (AUROC higher by 0.01, squared error lower by 1 %) than k-mers of both strands, else both.
/// Throws as fit_kmers().
RecordStrand chosen_strand(const examples::ExampleSet& examples, RecordStrand strand,
                           const std::optional<Standardisation>& standardisation, int threads);

}  // namespace bigbird::task_models
