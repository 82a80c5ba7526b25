// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/finetune_spec.hpp"
#include "bigbird/training/training_loop.hpp"

#include <optional>
#include <string>

namespace bigbird::task_models {

/// The loop of a run at this rate; with a `metric` ("eval_auroc", "eval_loss") that validation selects the
/// best model by. What is fixed is left to the caller.
training::LoopSpec finetune_loop(const FinetuneSpec& spec, const training::LearningRateSpec& rate,
                                 const std::optional<std::string>& metric);

/// Of a run's fixed options: --steps, --batch-size, the rate and the optimizer.
Json optimization_options(const FinetuneSpec& spec, const training::LoopSpec& loop);
/// Likewise: "sha256:…" of the examples' manifest, which holds the checksums of all files.
std::string examples_checksum(const FinetuneSpec& spec);
/// --positive-weight, as runs record it.
Json positive_weight_json(const FinetuneSpec& spec);
/// --strand-augmentation, likewise.
std::string strand_augmentation(const FinetuneSpec& spec);

}  // namespace bigbird::task_models
