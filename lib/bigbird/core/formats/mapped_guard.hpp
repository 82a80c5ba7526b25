// SPDX-License-Identifier: Apache-2.0
// A mapped file that is cut off, or whose disk gives out, is a SIGBUS as its memory is looked at.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>

namespace bigbird {

/// From now on such a SIGBUS in `bytes` ends the process with exit code 3 and a sentence that names the file;
/// any other ends it as before. Of more than 1,024 files at once those after them have no name. Thread-safe.
void guard_mapping(std::span<const std::byte> bytes, const std::filesystem::path& path);
/// Call it before the memory is unmapped.
void unguard_mapping(std::span<const std::byte> bytes) noexcept;

}  // namespace bigbird
