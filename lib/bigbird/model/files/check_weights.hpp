// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>

namespace bigbird::model {

/// Reads every number of a safetensors file, or of all those in a model folder. Throws InputError naming
/// every tensor with NaN or infinity (and how many), or if a file is damaged. Else returns {"numbers": their
/// count, "finite": true}.
Json check_weights(const std::filesystem::path& path);

}  // namespace bigbird::model
