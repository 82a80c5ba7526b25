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

/// Throws InputError where one of the files is not the one that `manifest` describes, or where "files" is no
/// such list. A manifest without "files", as older folders have it, is passed. Throws Stopped.
void require_files_of(const Json& manifest, const std::filesystem::path& folder,
                      std::initializer_list<const char*> names);

}  // namespace bigbird::examples
