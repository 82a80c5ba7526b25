// SPDX-License-Identifier: Apache-2.0
// Settings of motifs-export and motifs-marginalize.
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"

#include <filesystem>
#include <vector>

namespace bigbird::task_models {

struct ExportMotifsSpec : ComputeSpec {
    std::filesystem::path model;
    std::vector<std::filesystem::path> references;  ///< sequence that filters read; if empty, random bases
    std::filesystem::path output;
    Overwrite overwrite = Overwrite::refuse;
};

struct MarginalizeSpec : ComputeSpec {
    std::filesystem::path model, motifs;
    std::filesystem::path backgrounds;  ///< a BED file, or the word `shuffled`
    std::vector<std::filesystem::path> references;
    std::vector<std::int64_t> spacings;  ///< bases between two motifs; if empty, motifs are inserted singly
    std::filesystem::path output = "-";
    Overwrite overwrite = Overwrite::refuse;
};
/// Value of MarginalizeSpec::backgrounds for backgrounds drawn from the reference.
inline constexpr const char* shuffled_backgrounds = "shuffled";

}  // namespace bigbird::task_models
