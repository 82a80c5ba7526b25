// SPDX-License-Identifier: Apache-2.0
// Scores as differentiable functions of a sequence's letters: what attribute() takes gradients of.
#pragma once

#include "bigbird/bins/attributions.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/score/scorers.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <cstdint>
#include <span>

namespace bigbird::task_models {

/// A score function, and the number of sequences that it can take at once.
struct RowScore {
    bins::LetterScores scores;
    std::int64_t at_once = 1;
};

/// The score of a region as a function of the letters of `where`, at most a window's core. It is the mean
/// over models and strands of the logits of the bins that `where` overlaps, weighted by the number of
/// overlapping bases. All other letters come from `sequence_of`.
RowScore region_score(std::span<const ModelFolder> models, Strands strands, const genome::Interval& where,
                      const SequenceOf& sequence_of);

/// The mean over models of a record's logits, without the k-mer part. In a record that is longer than the
/// models read, it is the score of the middle.
RowScore record_score(std::span<const ModelFolder> models, std::int64_t length);

}  // namespace bigbird::task_models
