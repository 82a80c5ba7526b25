// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/training/training_loop.hpp"

#include <filesystem>
#include <functional>

namespace bigbird::training {

/// A model that is solved in closed form instead of trained step by step.
struct Solution {
    Json metrics;  ///< the one line of metrics.jsonl, with "step"
    std::function<void(const std::filesystem::path& directory)> write_model;  ///< into an existing folder
};

/// Makes the run folder of a model solved in closed form: lock, config.resolved.json, metrics.jsonl of one
/// line and model/, without checkpoints. `solve` is not called if the run is already finished. Throws what
/// run_training() throws and what `solve` throws.
LoopResult solve_run(const LoopSpec& spec, const std::filesystem::path& run_directory,
                     const std::function<Solution()>& solve);

}  // namespace bigbird::training
