// SPDX-License-Identifier: Apache-2.0
// What bases contribute to scores of models that read a window as tokens, for attribute.
#pragma once

#include "bigbird/task_models/score/grid_rows.hpp"
#include "bigbird/task_models/score/scorers.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <span>

namespace bigbird::task_models {

/// A row that token models score.
struct TokenRow {
    genome::Interval where;   ///< whose bases are attributed
    genome::Interval window;  ///< what the models read
    bool reverse = false;     ///< they read the reverse complement
    const SequenceOf& sequence_of;
};

struct TokenContributions {
    at::Tensor of_bases;             ///< (chosen labels, bases) float32 on the CPU
    double gap = 0, difference = 0;  ///< as AttributeReport has them
};

/// Contributions to the mean over models and strands of the row's logits. A token that spells bases of
/// `where` contributes by its word embedding: against the vector 0 (integrated gradients), by the product of
/// vector and slope (input x gradient), or the slope's length (saliency). The bases that it spells have equal
/// shares; those that no token spells have 0. `models` are TokenWindows.
TokenContributions token_contributions(std::span<const ModelFolder> models, const AttributeSpec& spec,
                                       std::span<const std::size_t> labels, const TokenRow& row);

}  // namespace bigbird::task_models
