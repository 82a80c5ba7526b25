// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/task_models/finetune/finetune.hpp"

namespace bigbird::task_models {

/// The network that `spec` asks for, for bins of `bin` bases. Throws ConfigError, and InputError where its
/// file cannot be read.
bins::BinsConfig bins_config(const BinsSpec& spec, std::optional<double> dropout, std::int64_t bin);

/// finetune() of --architecture bigbird-bins, its spec validated: trains a model of bins from nothing on the
/// labelled bins of an example folder.
training::LoopResult finetune_bins(const FinetuneSpec& spec, const training::RankSpec& place);

}  // namespace bigbird::task_models
