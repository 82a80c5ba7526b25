// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"
#include "bigbird/scoring/predictor.hpp"
#include "bigbird/tasks/examples.hpp"
#include "bigbird/tasks/window.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::scoring {

struct PredictSpec {
    tasks::Task task = tasks::Task::chromatin;
    std::vector<std::filesystem::path> models;  ///< several: the mean of their probabilities
    /// Either BED rows ("-": standard input) on the reference …
    std::filesystem::path regions;
    std::vector<std::filesystem::path> references;
    tasks::Anchor anchor = tasks::Anchor::centre;  ///< chromatin only; promoters lie about the row's TSS
    bool skip_invalid = false;
    /// … or the rows of an example folder, all or those of one split.
    std::filesystem::path examples;
    std::optional<tasks::Split> split;

    std::vector<std::filesystem::path> outputs;  ///< .tsv, .tsv.gz, .tsv.bgz or "-"
    Overwrite overwrite = Overwrite::refuse;
    std::string labels;  ///< LabelTable::select; "": all
    Strands strands = Strands::none;
    std::int64_t batch_tokens = 0;  ///< padded tokens a batch; 0: fits the device
    std::string device = "auto";
    int threads = 0;
};

struct PredictReport {
    std::int64_t rows = 0, scored = 0, truncated = 0;
    double seconds = 0;
};

/// Writes one row for each row that comes in, in order, in memory that does not grow with their number. A
/// promoter row's window lies about its TSS base (tasks::tss_of: the first base, on the minus strand the
/// last), a chromatin row's about its middle. Outputs appear when all rows are written. Throws InputError,
/// ConfigError, DeviceError, WriteError, Stopped.
PredictReport predict(const PredictSpec& spec);

/// Throws ConfigError where a name is none of those that `outputs` allows or occurs twice.
void check_score_outputs(const std::vector<std::filesystem::path>& outputs);

}  // namespace bigbird::scoring
