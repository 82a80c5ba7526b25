// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/task_models/specs/compute_spec.hpp"
#include "bigbird/task_models/specs/strands.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// What becomes of the scores of a region's tiles: a row a tile, or one row a region with their mean or their
/// largest.
enum class Pool : std::uint8_t { none, mean, max };
/// The values of --pool.
inline constexpr Choices<Pool, 3> pool_choices{
    {{Pool::none, "none"}, {Pool::mean, "mean"}, {Pool::max, "max"}}};
/// The values of --anchor.
inline constexpr Choices<rows::Anchor, 2> anchor_choices{
    {{rows::Anchor::centre, "centre"}, {rows::Anchor::summit, "summit"}}};
/// The values of --split.
inline constexpr Choices<std::optional<examples::Split>, 4> split_choices{
    {{examples::Split::train, "train"},
     {examples::Split::validation, "validation"},
     {examples::Split::test, "test"},
     {std::nullopt, "all"}}};

/// What predict-chromatin and predict-promoter are asked for.
struct PredictSpec : ComputeSpec {
    examples::Task task = examples::Task::chromatin;
    std::vector<std::filesystem::path> models;  ///< several: the mean of their probabilities
    /// Either BED rows ("-": standard input) on the reference …
    std::filesystem::path regions;
    std::vector<std::filesystem::path> references;
    rows::Anchor anchor = rows::Anchor::centre;  ///< chromatin only; promoters lie about the row's TSS
    bool skip_invalid = false;
    /// … or the rows of an example folder, all or those of one split.
    std::filesystem::path examples;
    std::optional<examples::Split> split;

    /// Regions are cut into tiles of this many bases, each scored on its own; 0: they are not. A promoter
    /// row without a strand is scanned on both.
    std::int64_t tile = 0;
    Pool pool = Pool::none;

    outputs::OutputSpec outputs;  ///< overlap is chosen by predict()
    std::string labels;           ///< LabelTable::select; "": all
    std::string track_labels;     ///< of tracks, among `labels`; "": the same
    Strands strands = Strands::none;
    bool dry_run = false, json = false;  ///< say what it would take, in lines or as JSON

    /// Throws ConfigError where fields do not go together; files are not looked at.
    void validate() const;
};

}  // namespace bigbird::task_models
