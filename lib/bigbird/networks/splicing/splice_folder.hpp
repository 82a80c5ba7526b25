// SPDX-License-Identifier: Apache-2.0
// A splicing network as a model folder of ours: config.json and model.safetensors (docs of the format:
// scripts/data/splicing writes one, too).
#pragma once

#include "bigbird/networks/splicing/splice_member.hpp"

#include <filesystem>

namespace bigbird::networks {

/// Whether config.json of the folder says that it is one.
bool is_splice_folder(const std::filesystem::path& directory);
/// Throws InputError, ConfigError.
SpliceModel read_splice_folder(const std::filesystem::path& directory);
/// Into a folder that is there (PendingOutput). Throws WriteError.
void write_splice_folder(const SpliceModel& model, const std::filesystem::path& directory);

}  // namespace bigbird::networks
