// SPDX-License-Identifier: Apache-2.0
// Contributions of bases to the scores of models that read tokens, for attribute.
#pragma once

#include "bigbird/task_models/score/grid_rows.hpp"
#include "bigbird/task_models/score/scorers.hpp"
#include "bigbird/task_models/specs/score_specs.hpp"

#include <span>

namespace bigbird::task_models {

/// A row that token models score.
struct TokenRow {
    genome::Interval where;   ///< the bases to attribute
    genome::Interval window;  ///< the bases that models of windows read
    bool reverse = false;     ///< whether models of windows read the reverse complement
    const SequenceOf& sequence_of;
};

struct TokenContributions {
    at::Tensor of_bases;             ///< (selected labels, bases) float32 on the CPU
    double gap = 0, difference = 0;  ///< see AttributeReport
};

/// Contributions to the row's logits, as the mean over models and strands; for bin models the logits are the
/// mean over the row's bins (region_score). A token that covers bases of
/// `where` contributes through its word embedding. integrated_gradients compares that vector with the vector
/// 0. input_x_gradient takes the product of vector and slope; saliency takes the length of the slope. The
/// bases that a token covers have equal shares, and bases without a token have 0. `models` are those of
/// open_letter_models().
TokenContributions token_contributions(std::span<const ModelFolder> models, const AttributeSpec& spec,
                                       std::span<const std::size_t> labels, const TokenRow& row);

}  // namespace bigbird::task_models
