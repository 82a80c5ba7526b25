// SPDX-License-Identifier: Apache-2.0
// What a file is, by its first bytes.
#pragma once

#include <cstdint>
#include <filesystem>

namespace bigbird::networks {

enum class FileKind : std::uint8_t { hdf5, zip };

/// Throws InputError for any other file: what it is, and what to take instead. Archives are read for the
/// names of their members.
FileKind kind_of_file(const std::filesystem::path& path);

}  // namespace bigbird::networks
