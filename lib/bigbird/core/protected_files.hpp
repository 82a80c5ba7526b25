// SPDX-License-Identifier: Apache-2.0
// Files that no output of this process may replace, even with --force.
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// From now on prepare_output() refuses this file or folder as an output. `named_by`: the option that names
/// it. `written`: an output in this folder, with all below it. Paths that do not exist are ignored.
/// Thread-safe.
void protect_input(const std::filesystem::path& path, const std::string& named_by,
                   const std::filesystem::path& written = {});

/// Throws ConfigError if `target` is a protected input, by any path or link, a folder that holds one, or a
/// file of a model, examples or tokens in a protected folder. Also where it is a device, a pipe or a socket,
/// or a link to the file of standard output or standard error. Thread-safe.
void refuse_protected(const std::filesystem::path& target);

/// Throws ConfigError if `target` is a foreign folder, which --force never replaces: a non-empty one that
/// bigbird-dna did not write, or "." or "..".
void refuse_foreign_folder(const std::filesystem::path& target);

/// Whether `path` is a folder itself, not a link to one.
bool is_folder(const std::filesystem::path& path);

/// Whether `path` is the file, pipe or device that standard output goes to, such as /dev/stdout.
bool is_standard_output(const std::filesystem::path& path);

}  // namespace bigbird
