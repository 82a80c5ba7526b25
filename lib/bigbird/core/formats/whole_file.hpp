// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// The bytes of a file, or of a shell's pipe up to its end. Throws InputError if it is missing, a device or a
/// named pipe, ReadError where it cannot be opened or fails before its end.
std::string read_whole_file(const std::filesystem::path& path);

}  // namespace bigbird
