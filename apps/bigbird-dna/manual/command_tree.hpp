// SPDX-License-Identifier: Apache-2.0
// The program's command line as data, from which the reference, the man pages and the completions are
// written.
#pragma once

#include "support/help_formatter.hpp"

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
    std::vector<std::string> words;  ///< fixed values; if `takes` is file, files are accepted as well
};

struct OptionGroup {
    std::string name;
    std::vector<OptionText> options;
};

struct CommandText {
    std::string name, description;  ///< the first line of the description is its summary
    std::string usage;
    std::string notes;  ///< additional paragraphs after the options; often empty
    std::vector<OptionText> arguments;
    std::vector<OptionGroup> groups;
    std::vector<Example> examples;
};

struct CommandGroup {
    std::string name;
    std::vector<CommandText> commands;
};

struct ProgramText {
    CommandText self;  ///< the program without a command
    std::vector<CommandGroup> groups;
};

/// Describes `root` and all its commands. The result does not depend on the machine.
ProgramText describe_program(const CLI::App& root);

/// All commands in the order of the help, each with the options of every command.
std::vector<CommandText> commands_of(const ProgramText& program);
/// All options of a command that have names.
std::vector<OptionText> options_of(const CommandText& command);
/// The options of every command (help_formatter.hpp).
OptionGroup shared_options_of(const ProgramText& program);

/// Returns the description up to its first line break or the end of its first sentence, without the dot.
std::string summary_of(const CommandText& command);

/// At most `width` letters of a description, up to the end of its first clause.
std::string brief(const std::string& description, std::size_t width = 70);

}  // namespace bigbird::cli
