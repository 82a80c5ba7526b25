// SPDX-License-Identifier: Apache-2.0
// Pretraining that starts from a model's weights: longer contexts, another genome.
#pragma once

#include "bigbird/model/model_directory.hpp"
#include "bigbird/pretraining/specs/pretrain_spec.hpp"

#include <filesystem>

namespace bigbird::pretraining {

/// The configuration of a run that starts from a model's weights. Where `given` has another shape than the
/// model throws ConfigError naming the first key that differs. Free are dropout, the attention pattern,
/// rope_theta, rope_scaling and max_position_embeddings, but learned positions can only become more. Random
/// attention stays the model's.
model::BigBirdConfig configuration_from(const model::BigBirdConfig& model, model::BigBirdConfig given);

/// With the folder that spec.model means, and its tokenizer where none is given. Throws InputError.
PretrainSpec with_model_folder(PretrainSpec spec);

/// That of spec.model, a folder, and of spec.config where it is given. Throws ConfigError, InputError.
model::BigBirdConfig configuration_from_model(const PretrainSpec& spec);

/// Throws ConfigError where the tokenizer's tokens differ from the ones in the model's folder.
void require_tokenizer_of(const std::filesystem::path& model, const tokenizer::DnaTokenizer& tokenizer);

}  // namespace bigbird::pretraining
