// SPDX-License-Identifier: Apache-2.0
// What predict-promoter and predict-chromatin share.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::cli {

struct PredictOptions {
    std::vector<std::filesystem::path> models, references, outputs;
    std::filesystem::path regions, examples;
    std::string split = "all", anchor = "centre", labels, track_labels, reverse_complement = "none",
                pool = "none";
    std::int64_t tile = 0;
    std::optional<double> min_score;
    bool skip_invalid = false, force = false;
    std::int64_t batch_tokens = 0;
    std::string device = "auto", dtype = "auto", attention = "automatic";
    int threads = 0;
};
/// `rows` says where a window lies about a BED row.
void add_predict_options(CLI::App& command, PredictOptions& options, const std::string& rows);

/// --labels, --track-labels, --anchor and --tile, for models with many labels and regions without a TSS.
void add_chromatin_predict_options(CLI::App& command, PredictOptions& options);

/// --scan.
void add_promoter_predict_options(CLI::App& command, PredictOptions& options);

}  // namespace bigbird::cli
