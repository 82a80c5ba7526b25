// SPDX-License-Identifier: Apache-2.0
// What no output of this process may take the place of, --force or not.
#pragma once

#include <filesystem>
#include <string>

namespace bigbird {

/// From now on prepare_output() refuses this file or folder as an output. `named_by`: the option that names
/// it. Paths that do not exist are passed over. Thread-safe.
void protect_input(const std::filesystem::path& path, const std::string& named_by);

/// Throws ConfigError where `target` is a protected input, by whatever path or link; where it is one of the
/// files that a model, examples or tokens consist of, in a protected folder; where it is a device, a pipe or
/// a socket; or where it is a link to the file that standard output or standard error goes to. Thread-safe.
void refuse_protected(const std::filesystem::path& target);

/// Throws ConfigError where `target` is a folder of others, which --force never replaces: one that is not
/// empty and that bigbird-dna did not write, or one whose name is "." or "..".
void refuse_foreign_folder(const std::filesystem::path& target);

/// Whether `path` is a folder itself, not a link to one.
bool is_folder(const std::filesystem::path& path);

/// Whether `path` is the file, pipe or device that standard output goes to, such as /dev/stdout.
bool is_standard_output(const std::filesystem::path& path);

}  // namespace bigbird
