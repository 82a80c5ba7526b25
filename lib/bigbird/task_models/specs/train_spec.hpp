// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/examples/build/chromatin.hpp"
#include "bigbird/examples/build/sequences.hpp"
#include "bigbird/examples/build/tracks.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// Options of the command train: from peaks, coverage or labeled sequences (task sequences) to an evaluated
/// model in one folder.
struct TrainSpec {
    /// By default, every bin becomes a row, with the tutorial's windows. Bin models read bins.npy, which has
    /// no windows.
    TrainSpec() {
        examples.window = 1000;
        examples.chooses_hold_outs = true;
        tracks.bin = 128;
    }

    examples::ChromatinOptions examples;  ///< all but splits, seed and threads
    examples::TrackOptions
        tracks;  ///< signals, bin size and how signals are read; its regions are in `examples`
    examples::SequencesOptions sequences;  ///< all but splits and seed
    /// Held-out data. For peaks: contigs, regions and BED files; chosen automatically if not given. For
    /// sequences: a table, or drawn if neither a table nor the split is given.
    std::vector<std::string> validation, test;
    FinetuneSpec model = bin_model_spec();  ///< examples and output follow from `output`
    std::filesystem::path output;
    std::int64_t min_positives = 10;  ///< test bins that a label needs to count in means
    bool force = false;               ///< discard the output of an earlier train in `output`
    bool dry_run = false;
};

}  // namespace bigbird::task_models
