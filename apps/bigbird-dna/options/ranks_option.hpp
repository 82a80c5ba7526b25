// SPDX-License-Identifier: Apache-2.0
// --processes, torchrun and srun; only for bigbird-dna-tensors.
#pragma once

#include "bigbird/training/ranks/rank_spec.hpp"

namespace bigbird::cli {

/// Whether this process must start the others instead of training.
bool launches_processes(int processes);

/// This process's rank. Silences the log of all ranks except the first. Throws ConfigError if --processes
/// contradicts the environment.
training::RankSpec rank_of_this_process(int processes);

}  // namespace bigbird::cli
