// SPDX-License-Identifier: Apache-2.0
// The program's command line as data, and what is written from it: the reference, the man pages and the
// completion scripts.
#pragma once

#include "support/help_formatter.hpp"

#include <CLI/CLI.hpp>

#include <filesystem>
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
    std::string name, description;  ///< the first sentence of the description is its summary
    std::string alias_of{};         ///< the command that has all options; empty for commands
    std::string usage{};
    std::string notes{};  ///< additional paragraphs after the options; often empty
    std::vector<OptionText> arguments{};
    std::vector<OptionGroup> groups{};
    std::vector<Example> examples{};
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
/// Throws ConfigError if there is no such command.
const CommandText& command_of(const ProgramText& program, const std::string& name);
/// All options of a command that have names.
std::vector<OptionText> options_of(const CommandText& command);
/// The options of every command (help_formatter.hpp).
OptionGroup shared_options_of(const ProgramText& program);

/// first_sentence() of its description.
std::string summary_of(const CommandText& command);

/// At most `width` letters of a description, up to the end of its first clause.
std::string brief(const std::string& description, std::size_t width = 70);

/// The command reference: each command in the order of the help, with its options in tables
/// (docs/commands.md).
std::string markdown_reference(const ProgramText& program);

/// The program's page of the manual in roff, section 1.
std::string program_man_page(const ProgramText& program);

/// A command's page. Throws ConfigError if there is no such command.
std::string command_man_page(const ProgramText& program, const std::string& command);

/// Writes bigbird-dna.1 and bigbird-dna-COMMAND.1 for each command into `folder`, which exists.
void write_man_pages(const ProgramText& program, const std::filesystem::path& folder);

/// Completion scripts for commands, names of options, fixed values, folders and files.
std::string bash_completion(const ProgramText& program);
std::string zsh_completion(const ProgramText& program);
std::string fish_completion(const ProgramText& program);

}  // namespace bigbird::cli
