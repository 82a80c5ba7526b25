// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <optional>
#include <string>
#include <vector>

namespace bigbird::cli {

/// The option that names the file, for every command.
inline constexpr const char* options_file_option = "--options";

/// true, yes and on are true; false, no and off are false; any other word is neither.
std::optional<bool> truth_of(const std::string& word);

/// A command line whose `--options FILE` is replaced by what the file says: a map, in YAML or JSON, from the
/// options' names (with or without the dashes in front) to a value, a list of values, or true and false for
/// those that take none. What the command line itself gives goes before. `program` knows which options of
/// the command are flags: "--flag=false" is dropped. Throws ConfigError and InputError: file missing or
/// malformed, something else than such a map.
std::vector<std::string> expand_options_file(const std::vector<std::string>& arguments,
                                             const CLI::App& program);

}  // namespace bigbird::cli
