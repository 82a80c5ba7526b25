// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/task_models/specs/finetune_spec.hpp"

#include <CLI/CLI.hpp>

namespace bigbird::cli {

/// Throws ConfigError if an option of finetune-promoter or finetune-chromatin is given that the chosen
/// model does not read. Call it when the command line is parsed.
void refuse_idle_options(const CLI::App& command, const task_models::FinetuneSpec& spec);

}  // namespace bigbird::cli
