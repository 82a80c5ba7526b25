// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>

namespace bigbird::training {

/// The folder with config.json that `path` means: itself (a model folder or a checkpoint), a finished run's
/// model/, else a run's newest checkpoint (said on standard error). Throws InputError where there is none.
std::filesystem::path find_model(const std::filesystem::path& path);

}  // namespace bigbird::training
