// SPDX-License-Identifier: Apache-2.0
// The SHA-256 of each file of an example folder, in its manifest under "files" (FORMAT.md).
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <initializer_list>

namespace bigbird::examples {

/// Checksums of a folder's files that hold examples: {"labels.npy": "...", ...}. Lists for people, such as
/// test.bed, are left out. Throws InputError, Stopped, and std::filesystem::filesystem_error where a file
/// cannot be searched.
Json file_checksums(const std::filesystem::path& folder);

/// Throws InputError if a file differs from the one that `manifest` describes, or if "files" is not such a
/// list. Accepts a manifest without "files", as in older folders. Throws Stopped.
void require_files_of(const Json& manifest, const std::filesystem::path& folder,
                      std::initializer_list<const char*> names);

}  // namespace bigbird::examples
