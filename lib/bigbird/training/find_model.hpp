// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bigbird::training {

/// Finds the folder with config.json for `path`: itself (a model folder or a checkpoint), a finished run's
/// model/, else a run's newest checkpoint (which is logged). Throws InputError if there is none.
std::filesystem::path find_model(const std::filesystem::path& path);

}  // namespace bigbird::training
