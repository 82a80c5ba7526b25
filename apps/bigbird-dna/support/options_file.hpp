// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <CLI/CLI.hpp>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace bigbird::cli {

/// The option that names the file, for every command.
inline constexpr const char* options_file_option = "--options";

/// true, yes and on are true; false, no and off are false, in any case; any other word is neither.
std::optional<bool> truth_of(const std::string& word);

/// A command line, and which of its options come from a file.
struct ExpandedLine {
    std::vector<std::string> words;
    std::filesystem::path file{};      ///< of --options; empty: none
    std::vector<std::string> names{};  ///< of the file's options, with dashes

    /// An error message, with the file if it is about one of the file's options.
    std::string with_origin(const std::string& message) const;
};

/// Returns a command line whose `--options FILE` is replaced by the file's options. The file is a YAML or
/// JSON map from option names (with or without leading dashes) to a value or a list of values; flags take
/// true or false. The command line overrides the file. `program` knows which options of the command are
/// flags: "--flag=false" is dropped. Throws ConfigError and InputError: file missing, malformed or not such a
/// map, or a flag with another value.
ExpandedLine expand_options_file(const std::vector<std::string>& arguments, const CLI::App& program);

}  // namespace bigbird::cli
