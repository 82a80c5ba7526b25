// SPDX-License-Identifier: Apache-2.0
// The program's command line as data: what the reference, the man pages and the completions are written from.
#pragma once

#include <CLI/CLI.hpp>

#include <string>
#include <vector>

namespace bigbird::cli {

/// The values that a shell offers for an option.
enum class Takes { nothing, words, folder, file, command };

struct OptionText {
    std::vector<std::string> names;  ///< with their dashes; none: an argument without a name
    std::string value;               ///< kind, such as "N" or "on|off"; empty: a flag
    std::string initial;             ///< default; empty: none to show
    std::string description;
    bool required = false, repeats = false;
    Takes takes = Takes::nothing;
    std::vector<std::string>
        words;  ///< values that are fixed; where `takes` is file, files are taken as well
};

struct OptionGroup {
    std::string name;
    std::vector<OptionText> options;
};

struct ExampleText {
    std::string what, line;
};

struct CommandText {
    std::string name, description;  ///< the first line of the description is its summary
    std::string usage;
    std::string notes;  ///< additional paragraphs after the options; often empty
    std::vector<OptionText> arguments;
    std::vector<OptionGroup> groups;
    std::vector<ExampleText> examples;
};

struct CommandGroup {
    std::string name;
    std::vector<CommandText> commands;
};

struct ProgramText {
    CommandText self;  ///< the program without a command
    std::vector<CommandGroup> groups;
};

/// `root` with all that its commands have; nothing in the result depends on the machine.
ProgramText describe_program(const CLI::App& root);

/// Returns the description up to its first line break or the end of its first sentence, without the dot.
std::string summary_of(const CommandText& command);

/// At most `width` letters of a description, up to where its first clause ends.
std::string brief(const std::string& description, std::size_t width = 70);

}  // namespace bigbird::cli
