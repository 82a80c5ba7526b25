// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/finetune_spec.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"
#include "bigbird/training/training_loop.hpp"

namespace bigbird::task_models {

/// Fine-tunes a pretrained model, or trains a baseline, on the rows of train; where there are rows of
/// validation the model with the best mean AUROC on them becomes RUN/model (the last step's else). `place`:
/// of this process among those that train together. Throws InputError, ConfigError, DeviceError, WriteError,
/// Stopped (after a checkpoint).
training::LoopResult finetune(const FinetuneSpec& spec, const training::RankSpec& place = {});

}  // namespace bigbird::task_models
