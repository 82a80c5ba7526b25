// SPDX-License-Identifier: Apache-2.0
// --processes, torchrun and srun; only for bigbird-dna-tensors.
#pragma once

#include "bigbird/training/ranks/rank_spec.hpp"

namespace bigbird::cli {

/// Whether this process is to start the others rather than to train.
bool launches_processes(int processes);

/// This process's place. Quiets the log of all ranks but the first. Throws ConfigError where --processes
/// contradicts the environment.
training::RankSpec place_of_this_process(int processes);

}  // namespace bigbird::cli
