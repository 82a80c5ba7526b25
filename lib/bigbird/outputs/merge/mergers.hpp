// SPDX-License-Identifier: Apache-2.0
// One function a format; merge_scores() chooses.
#pragma once

#include "bigbird/core/error.hpp"
#include "bigbird/core/files.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/score_run.hpp"

#include <filesystem>
#include <memory>
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

/// Of a part whose reader, in a process of its own, was led astray.
inline InputError unfit_answer(const std::filesystem::path& part) {
    return {"is damaged: its reader gave no answer that fits", part};
}

/// Tables and long tables, written and not yet put in place. `inputs`: a file a part.
std::unique_ptr<genome::TextOutput> merge_lines(const Merge& merge,
                                                std::span<const std::filesystem::path> inputs,
                                                const std::filesystem::path& output);
void merge_npy(const Merge& merge);
void merge_hdf5(const Merge& merge);
void merge_tracks(const Merge& merge, Kind kind);

}  // namespace bigbird::outputs
