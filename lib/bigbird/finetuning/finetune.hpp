// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tasks/specs/finetune_spec.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"
#include "bigbird/training/training_loop.hpp"

#include <optional>
#include <string>

namespace bigbird::tasks {

/// The file of motifs that filters were initialized with, in a run folder, in MEME's format.
inline constexpr const char* motif_file = "motifs.meme";

/// Fine-tunes a pretrained model, or trains a baseline or a bin model, on the examples of train, or on
/// labeled bases. With validation, the model with the best validation figure becomes RUN/model, else that of
/// the last step. `rank`: this process's rank. Throws InputError, ConfigError, DeviceError, WriteError,
/// Stopped (after a checkpoint).
training::LoopResult finetune(const FinetuneSpec& spec, const training::RankSpec& rank = {});

/// Returns the message at the end of a run whose last evaluation was the best; nullopt for other runs, and
/// after only one evaluation.
std::optional<std::string> still_improving(const FinetuneSpec& spec, const training::LoopResult& result);

}  // namespace bigbird::tasks
