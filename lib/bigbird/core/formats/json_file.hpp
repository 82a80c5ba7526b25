// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/core/files.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace bigbird {

/// Key order is kept, so that files read as they were written.
using Json = nlohmann::ordered_json;

/// Throws InputError with file and line where the file is missing or not JSON.
Json read_json(const std::filesystem::path& path);

/// Indented by two, with a last newline, atomically.
void write_json(const std::filesystem::path& path, const Json& value, Overwrite overwrite);

}  // namespace bigbird
