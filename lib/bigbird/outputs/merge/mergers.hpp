// SPDX-License-Identifier: Apache-2.0
// One function a format; merge_scores() chooses.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/score_run.hpp"

#include <filesystem>
#include <functional>
#include <span>
#include <vector>

namespace bigbird::outputs {

/// The parts in their order, and what comes of them.
struct Merge {
    std::span<const Part> parts;
    std::vector<Piece> order;
    ScoreRun run;
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::refuse;
    int threads = 1;
};

/// Tables and long tables. `inputs`: a file a part. `after_commit` is called when the output is in place.
void merge_lines(const Merge& merge, std::span<const std::filesystem::path> inputs,
                 const std::filesystem::path& output, const std::function<void()>& after_commit = {});
void merge_npy(const Merge& merge);
void merge_hdf5(const Merge& merge);
void merge_tracks(const Merge& merge, Kind kind);

}  // namespace bigbird::outputs
