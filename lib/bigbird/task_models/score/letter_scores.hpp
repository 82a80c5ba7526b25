// SPDX-License-Identifier: Apache-2.0
// Scores of sequence as functions of its letters, with gradients, for attribute.
#pragma once

#include "bigbird/bins/attributions.hpp"
#include "bigbird/task_models/network/model_folder.hpp"
#include "bigbird/task_models/score/grid_rows.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

namespace bigbird::task_models {

/// A score and how many sequences it can take at once.
struct RowScore {
    bins::LetterScores scores;
    std::int64_t at_once = 1;
};

/// Opens models that read bases, all of them bin models with one grid or sequence models, or models that read
/// a window as tokens (TokenWindows). Their parameters have no gradients from then on. Throws InputError,
/// ConfigError: another kind of model, with what to use.
std::vector<ModelFolder> open_letter_models(std::span<const std::filesystem::path> paths,
                                            const at::Device& device, const Computing& computing);

/// The mean over models and strands of the logits of the bins that `where` touches, weighted by the bases
/// that they share, as a function of the letters of `where`, at most a window's core; all other letters are
/// those of `sequence_of`.
RowScore region_score(std::span<const ModelFolder> models, Strands strands, const genome::Interval& where,
                      const SequenceOf& sequence_of);

/// The mean over models of a record's logits, without the part of k-mers; of a record longer than the models
/// read, those of its middle.
RowScore record_score(std::span<const ModelFolder> models, std::int64_t length);

}  // namespace bigbird::task_models
