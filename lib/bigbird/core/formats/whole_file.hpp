// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// The bytes of a file, or of a pipe to its end. Throws InputError where it is missing, ReadError where
/// it cannot be opened or fails before its end.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace bigbird
