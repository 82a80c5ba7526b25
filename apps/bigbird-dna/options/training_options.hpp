// SPDX-License-Identifier: Apache-2.0
// Options of every command that trains: the run directory and the optimization. No LibTorch here;
// loop_spec.hpp makes training::LoopSpec of them.
#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct RunOptions {
    std::filesystem::path output;
    bool force = false;
    std::int64_t checkpoint_every = 1000;
    int keep = 3;
    std::int64_t keep_every = 0;
    std::string resume = "auto";
    double max_hours = 0;
};
/// --output, --force, --checkpoint-every, --keep, --keep-every, --resume, --max-hours.
void add_run_options(CLI::App& command, RunOptions& options);

struct OptimizationOptions {
    std::int64_t steps = 0;
    std::int64_t batch_size = 32;
    double learning_rate = 1e-4;
    std::int64_t warmup_steps = -1;  ///< -1: the command's default
    std::string decay = "linear";
    double weight_decay = 0.01;
    double clip_norm = 1.0;
    std::vector<double> betas{0.9, 0.999};
};
/// --steps, --batch-size, --learning-rate, --warmup-steps, --schedule, --weight-decay, --clip-norm, --betas.
/// `steps_text` and `warmup_text` say what the defaults mean.
void add_optimization_options(CLI::App& command, OptimizationOptions& options, const std::string& steps_text,
                              const std::string& warmup_text);

}  // namespace bigbird::cli
