// SPDX-License-Identifier: Apache-2.0
// Notes that a command's help shows besides its options; each command adds its own.
#pragma once

#include <CLI/CLI.hpp>

#include <array>
#include <string>
#include <vector>

namespace bigbird::cli {

/// A command line that works unchanged in the folder that scripts/demo fills, and what it does.
struct Example {
    const char* what;
    const char* line;  ///< begins with "bigbird-dna"; quoted as for a shell
};
using Examples = std::array<Example, 2>;

/// Where the examples' files are.
inline constexpr const char* examples_title = "Examples, in the folder that scripts/demo fills:";

/// The options that every command takes, and their group in the program's help.
inline constexpr const char* shared_group = "Options of every command";
inline constexpr const char* shared_options =
    "Every command also takes --options FILE, --quiet and --verbose";

/// The group of options that are read but not shown. CLI11's own, "", takes their names out of errors.
inline constexpr const char* hidden_group = "Hidden";

inline bool is_hidden(const CLI::Option& option) {
    return option.get_group().empty() || option.get_group() == hidden_group;
}

struct HelpNotes {
    std::vector<Example> examples;
    std::vector<std::string> common;  ///< options that --help shows; empty: all
};

/// Adds examples to the end of the command's --help, its man page and its part of the reference.
void add_examples(CLI::App& command, const Examples& examples);

/// --help of the command shows only these options; --help-all, which this adds, shows all.
void show_first(CLI::App& command, std::vector<std::string> options);

/// The arguments of the two functions above; empty if they were not called.
HelpNotes help_notes(const CLI::App& command);

/// Breaks `line` before options into lines of at most `width` if possible, with the shell's backslash at the
/// ends.
std::vector<std::string> shell_lines(const std::string& line, std::size_t width);

}  // namespace bigbird::cli
