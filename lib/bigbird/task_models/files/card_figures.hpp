// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/evaluation/evaluation.hpp"
#include "bigbird/evaluation/sequences/sequence_evaluation.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/model/files/model_card.hpp"

namespace bigbird::task_models {

/// A model card's entry of an evaluation: the defined figures over all labels.
model::CardResult card_figures(examples::Task task, examples::Split split,
                               const evaluation::Evaluation& evaluation);
/// The figures from a report's file.
model::CardResult card_figures(examples::Split split, const evaluation::SequenceReport& report,
                               const evaluation::SequenceFile& file);

}  // namespace bigbird::task_models
