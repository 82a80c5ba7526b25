// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/pretraining/corpora.hpp"
#include "bigbird/pretraining/pretrain.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"

namespace bigbird::pretraining {

/// The run that `spec` describes, before a device is opened and the inputs are known; spec.model is empty or
/// a folder with config.json. Throws ConfigError, InputError.
PretrainRun run_of(const PretrainSpec& spec);

/// A pretraining run from its options to its result. One thread.
class Pretraining {
public:
    /// Looks at the inputs, without reading them. Throws ConfigError, InputError.
    explicit Pretraining(PretrainSpec spec);

    /// plan_pretraining() on this process's device.
    Json plan(const training::RankSpec& rank);
    /// pretrain() into spec.output, as one of the processes that train together.
    training::LoopResult train(const training::RankSpec& rank);

private:
    /// Opens the device of this rank; `rank` counts threads over all processes that share processors.
    void set_up(const training::RankSpec& rank);

    PretrainSpec spec_;
    PretrainRun run_;
    Corpora corpora_;
    int threads_;
};

}  // namespace bigbird::pretraining
