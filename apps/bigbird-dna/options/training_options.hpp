// SPDX-License-Identifier: Apache-2.0
// Options of every command that trains: the run directory and the optimization.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/training/specs/run_spec.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace bigbird::cli {

inline constexpr Choices<bool, 2> on_or_off{{{true, "on"}, {false, "off"}}};

/// --output, --force, --checkpoint-every, --keep, --keep-every, --resume, --max-hours.
void add_run_options(CLI::App& command, std::filesystem::path& output, training::RunSpec& run);

/// --max-hours of a run.
CLI::Option* add_max_hours_option(CLI::App& command, double& hours);

/// --steps, --batch-size, --learning-rate, --warmup-steps, --schedule, --weight-decay, --clip-norm, --betas.
/// `steps_text` and `warmup_text` explain the defaults.
void add_optimization_options(CLI::App& command, std::int64_t& batch_size, training::LearningRateSpec& rate,
                              training::OptimizerSpec& optimizer, const std::string& steps_text,
                              const std::string& warmup_text);

}  // namespace bigbird::cli
