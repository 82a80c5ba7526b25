// SPDX-License-Identifier: Apache-2.0
// What finetune-promoter and finetune-chromatin share; their defaults differ.
#pragma once

#include "options/training_options.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bigbird::cli {

/// Of --architecture bigbird-bins.
struct BinsOptions {
    std::string config = "tiny";
    std::int64_t window_bins = 0, margin_bins = -1, shift = 3;
    double average_weights = 0.99;
    std::int64_t motifs = 48;
};

struct FinetuneOptions {
    RunOptions run;
    OptimizationOptions optimization;
    std::filesystem::path examples, model;
    std::string architecture = "bigbird", window;
    double epochs = 3;
    std::string head = "classification", pooling = "cls";
    std::optional<double> dropout;
    std::string positive_weight = "1", sampling = "uniform", strand_augmentation = "none", dtype = "auto",
                attention = "automatic";
    int word = 0, informative = 0;
    double penalty = 0, cost = 1;
    std::int64_t most_windows = 4000;
    BinsOptions bins;
    int processes = 1;
    std::int64_t evaluate_every = -1, patience = 0, batch_tokens = 0;
    std::string device = "auto";
    int threads = 0;
    std::uint64_t seed = 0;
};
/// `baselines`: the names of --architecture that this task's baselines have.
void add_finetune_options(CLI::App& command, FinetuneOptions& options, const std::string& baselines);

/// The options of --architecture bigbird-bins, and its defaults where others are not given.
void add_bins_options(CLI::App& command, FinetuneOptions& options);

}  // namespace bigbird::cli
