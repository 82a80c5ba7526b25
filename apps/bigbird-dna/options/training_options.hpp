// SPDX-License-Identifier: Apache-2.0
// Options of commands that train: of every one, and of every finetune-*.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/tasks/specs/finetune_spec.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

namespace bigbird::cli {

inline constexpr Choices<bool, 2> on_or_off{{{true, "on"}, {false, "off"}}};

/// --output, --force, --resume, --max-hours.
void add_run_options(CLI::App& command, std::filesystem::path& output, training::RunSpec& run);

/// --max-hours of a run.
CLI::Option* add_max_hours_option(CLI::App& command, double& hours);

/// --steps, which `steps_text` describes, --batch-size, --learning-rate, --schedule, --weight-decay.
void add_optimization_options(CLI::App& command, std::int64_t& batch_size, training::LearningRateSpec& rate,
                              training::OptimizerSpec& optimizer, const std::string& steps_text);

// ---- every finetune-*
inline constexpr Choices<bool, 2> calibrations{{{true, "validation"}, {false, "none"}}};
inline constexpr Choices<bool, 2> strand_augmentations{{{false, "none"}, {true, "reverse-complement"}}};

/// --random-weights.
void add_random_weights_option(CLI::App& command, tasks::FinetuneSpec& spec);
/// --dropout, --dtype.
void add_encoder_options(CLI::App& command, tasks::FinetuneSpec& spec);
/// Adds --seed, the options of a run, --batch-size, --steps, --epochs and the optimizer's options.
void add_finetune_run_options(CLI::App& command, tasks::FinetuneSpec& spec);
/// --evaluate-every, --patience, --calibration. `held_out`: the name of the validation data.
void add_validation_options(CLI::App& command, tasks::FinetuneSpec& spec, const std::string& held_out);
/// --device, --threads, --processes.
void add_place_options(CLI::App& command, tasks::FinetuneSpec& spec);

}  // namespace bigbird::cli
