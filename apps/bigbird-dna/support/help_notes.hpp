// SPDX-License-Identifier: Apache-2.0
// What a command's help tells beside its options; each command says it where it is set up.
#pragma once

#include <CLI/CLI.hpp>

#include <array>
#include <string>
#include <vector>

namespace bigbird::cli {

/// A command line that can be typed as it stands in the folder that scripts/demo fills, and what it does.
struct Example {
    const char* what;
    const char* line;  ///< begins with "bigbird-dna"; quoted as for a shell
};
using Examples = std::array<Example, 2>;

/// Where the examples' files are.
inline constexpr const char* examples_title = "Examples, in the folder that scripts/demo fills:";

struct HelpNotes {
    std::vector<Example> examples;
    std::vector<std::string> common;  ///< options that --help shows; empty: all
};

/// The command's --help ends with these; so do its page of the manual and its part of the reference.
void add_examples(CLI::App& command, const Examples& examples);

/// --help of the command shows these options alone; --help-all, which this adds, shows all.
void show_first(CLI::App& command, std::vector<std::string> options);

/// What the two functions above were given; empty where they were not called.
HelpNotes help_notes(const CLI::App& command);

/// `line` in lines of at most `width` where it can be, broken before options, with the shell's backslash at
/// the ends.
std::vector<std::string> shell_lines(const std::string& line, std::size_t width);

}  // namespace bigbird::cli
