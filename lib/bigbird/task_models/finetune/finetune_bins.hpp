// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/task_models/finetune/finetune.hpp"

namespace bigbird::task_models {

/// The network that `spec` asks for, for bins of `bin` bases. Throws ConfigError, and InputError where its
/// file cannot be read.
bins::BinsConfig bins_config(const BinsSpec& spec, std::optional<double> dropout, std::int64_t bin);

/// The windows of BigBird with --head bins, where the positions hold the tokens of `fitting` bins. Throws
/// ConfigError where those asked for do not fit.
bins::Grid token_grid(const BinsSpec& spec, std::int64_t bin, std::int64_t fitting);

/// finetune() of models of bins, its spec validated: trains on the labelled bins of an example folder.
training::LoopResult finetune_bins(const FinetuneSpec& spec, const training::RankSpec& place);

}  // namespace bigbird::task_models
