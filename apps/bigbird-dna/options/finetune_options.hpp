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

struct FinetuneOptions {
    RunOptions run;
    OptimizationOptions optimization;
    std::filesystem::path examples, model;
    double epochs = 3;
    std::string head = "classification", pooling = "cls";
    std::optional<double> dropout;
    double positive_weight = 1;
    std::string strand_augmentation = "none";
    std::int64_t evaluate_every = -1, patience = 0, batch_tokens = 0;
    std::string device = "auto";
    int threads = 0;
    std::uint64_t seed = 0;
};
void add_finetune_options(CLI::App& command, FinetuneOptions& options);

}  // namespace bigbird::cli
