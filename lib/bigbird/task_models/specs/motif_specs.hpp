// SPDX-License-Identifier: Apache-2.0
// What motifs export and motifs marginalize are asked for.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"

#include <filesystem>
#include <vector>

namespace bigbird::task_models {

struct ExportMotifsSpec : ComputeSpec {
    std::filesystem::path model;
    std::vector<std::filesystem::path> references;  ///< sequence that filters read; empty: random bases
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::refuse;
};

struct MarginalizeSpec : ComputeSpec {
    std::filesystem::path model, motifs;
    std::filesystem::path backgrounds;  ///< a BED, or the word `shuffled`
    std::vector<std::filesystem::path> references;
    std::vector<std::int64_t> spacings;  ///< bases between two motifs; none: each motif on its own
    std::filesystem::path output = "-";
    Overwrite overwrite = Overwrite::refuse;
};
/// MarginalizeSpec::backgrounds that are drawn from the reference.
inline constexpr const char* shuffled_backgrounds = "shuffled";

}  // namespace bigbird::task_models
