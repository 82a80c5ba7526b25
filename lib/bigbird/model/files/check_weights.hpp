// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>

namespace bigbird::model {

/// Reads every number of a safetensors file, or of all those in a model folder. Throws InputError naming
/// every tensor that holds NaN or infinity (and how many), or where a file is damaged. Else {"numbers": how
/// many, "finite": true}.
Json check_weights(const std::filesystem::path& path);

}  // namespace bigbird::model
