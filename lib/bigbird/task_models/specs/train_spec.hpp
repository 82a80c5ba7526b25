// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/examples/build/chromatin.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <cstdint>
#include <filesystem>

namespace bigbird::task_models {

/// What the command train is asked for: from peaks to a judged bin model in one folder.
struct TrainSpec {
    /// Rows, of every bin, have the tutorial's windows; bin models read bins.npy, which has no windows.
    TrainSpec() {
        examples.window = 1000;
        examples.chooses_hold_outs = true;
    }

    examples::ChromatinOptions examples;    ///< its seed and threads are those of `model`
    FinetuneSpec model = bin_model_spec();  ///< examples and output follow from `output`
    std::filesystem::path output;
    std::int64_t min_positives = 10;  ///< test bins that a label needs to count in means
    bool force = false;               ///< discard what an earlier train left in `output`
    bool dry_run = false;
};

}  // namespace bigbird::task_models
