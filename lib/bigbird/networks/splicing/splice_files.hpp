// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/networks/splicing/splice_member.hpp"

#include <filesystem>
#include <span>

namespace bigbird::networks {

/// The members that files (.h5, .pt, .pth, Pangolin's) and folders of them hold, or a model folder of ours.
/// Executes nothing of them. Throws InputError, ConfigError where they do not fit together.
SpliceModel read_splice_model(std::span<const std::filesystem::path> paths);

/// Whether a path is one of them; false if it cannot be read.
bool is_splice_model(const std::filesystem::path& path);

}  // namespace bigbird::networks
