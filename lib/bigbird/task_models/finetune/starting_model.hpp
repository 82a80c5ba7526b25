// SPDX-License-Identifier: Apache-2.0
// What a classifier of BigBird starts from: a pretrained model, or its shape alone.
#pragma once

#include "bigbird/model/bigbird.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <filesystem>

namespace bigbird::task_models {

/// The pretrained model's configuration with the head and the dropout that are asked for. Throws InputError,
/// ConfigError.
model::BigBirdConfig classifier_config(const FinetuneSpec& spec, const std::filesystem::path& pretrained,
                                       std::int64_t labels);

/// With the pretrained encoder or, with random_weights, a new one; the head is drawn from the seed.
model::SequenceClassifier starting_classifier(const FinetuneSpec& spec, const model::BigBirdConfig& config,
                                              const std::filesystem::path& pretrained,
                                              const at::Device& device);

/// Of a run's fixed options: --model (its checksum), --head, --dropout and, where given, --random-weights.
Json starting_options(const FinetuneSpec& spec, const std::filesystem::path& pretrained);

}  // namespace bigbird::task_models
