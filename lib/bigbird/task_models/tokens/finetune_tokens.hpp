// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/tokens_spec.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"
#include "bigbird/training/training_loop.hpp"

namespace bigbird::task_models {

/// Fine-tunes a pretrained model to label bases; where there are held-out bases with labels the model with
/// the best mean AUROC on them becomes RUN/model (the last step's else). `place`: of this process among those
/// that train together. Throws InputError, ConfigError, DeviceError, WriteError, Stopped (after a
/// checkpoint).
training::LoopResult finetune_tokens(const FinetuneTokensSpec& spec, const training::RankSpec& place = {});

}  // namespace bigbird::task_models
