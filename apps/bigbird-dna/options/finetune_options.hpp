// SPDX-License-Identifier: Apache-2.0
// Options that every finetune-* has.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <CLI/CLI.hpp>

#include <string>

namespace bigbird::cli {

inline constexpr Choices<bool, 2> calibrations{{{true, "validation"}, {false, "none"}}};
inline constexpr Choices<bool, 2> strand_augmentations{{{false, "none"}, {true, "reverse-complement"}}};

inline constexpr Choices<bool, 2> kmer_parts{{{true, "mean"}, {false, "none"}}};

/// --random-weights.
void add_random_weights_option(CLI::App& command, task_models::FinetuneSpec& spec);
/// --dropout, --dtype, --attention.
void add_encoder_options(CLI::App& command, task_models::FinetuneSpec& spec);
/// Adds --batch-size, --steps, --epochs and the optimizer's options.
void add_length_options(CLI::App& command, task_models::FinetuneSpec& spec);
/// --evaluate-every, --patience, --calibration. `held_out`: the name of the validation data.
void add_validation_options(CLI::App& command, task_models::FinetuneSpec& spec, const std::string& held_out);
/// --device, --threads, --processes, --batch-tokens.
void add_place_options(CLI::App& command, task_models::FinetuneSpec& spec);

}  // namespace bigbird::cli
