// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/task_models/predict/predictor.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::task_models {

/// What becomes of the scores of a region's tiles: a row a tile, or one row a region with their mean or their
/// largest.
enum class Pool : std::uint8_t { none, mean, max };
/// "none", "mean", "max": the values of --pool. Throws ConfigError.
Pool parse_pool(const std::string& word);
std::string to_string(Pool pool);

struct PredictSpec {
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
    std::int64_t batch_tokens = 0;  ///< padded tokens a batch; 0: fits the device
    std::string device = "auto", dtype = "auto", attention = "automatic";  ///< parse_computing
    int threads = 0;
};

struct PredictReport {
    std::int64_t rows = 0, scored = 0, truncated = 0;
    double seconds = 0;
};

/// Writes one row for each row that comes in, in order, in memory that does not grow with their number. A
/// promoter row's window lies about its TSS base (rows::tss_of: the first base, on the minus strand the
/// last), a chromatin row's about its middle. Outputs appear when all rows are written. Throws InputError,
/// ConfigError, DeviceError, WriteError, Stopped.
PredictReport predict(const PredictSpec& spec);

}  // namespace bigbird::task_models
