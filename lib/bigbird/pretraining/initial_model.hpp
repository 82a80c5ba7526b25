// SPDX-License-Identifier: Apache-2.0
// Pretraining that starts from a model's weights: longer contexts, another genome.
#pragma once

#include "bigbird/model/model_directory.hpp"
#include "bigbird/pretraining/specs/pretrain_spec.hpp"

#include <filesystem>

namespace bigbird::pretraining {

/// The configuration of a run that starts from a model's weights. `given` may differ from the model in
/// dropout, the attention pattern, rope_theta, rope_scaling and max_position_embeddings; the number of
/// learned positions can only increase. The seed of random attention stays the model's. Throws ConfigError
/// naming the first other key that differs.
model::BigBirdConfig configuration_from(const model::BigBirdConfig& model, model::BigBirdConfig given);

/// An option of the model's pretraining as config.json records it, or null.
Json pretraining_option(const model::BigBirdConfig& config, const std::string& name);

/// If the spec names a model, returns it with the model's resolved folder, and with its tokenizer, and the
/// batch size and sequence length that it was trained with, where none are given. Throws InputError.
PretrainSpec with_model_folder(PretrainSpec spec);

/// The configuration of spec.model, a folder, combined with spec.config, if any. Throws ConfigError,
/// InputError.
model::BigBirdConfig configuration_from_model(const PretrainSpec& spec);

/// Throws ConfigError if the tokenizer's tokens differ from the ones in the model's folder.
void require_tokenizer_of(const std::filesystem::path& model, const tokenizer::DnaTokenizer& tokenizer);

}  // namespace bigbird::pretraining
