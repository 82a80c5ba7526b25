// SPDX-License-Identifier: Apache-2.0
// What is written from the program's command line: the reference, the man pages and the completion scripts.
#pragma once

#include "manual/command_tree.hpp"

#include <filesystem>
#include <string>

namespace bigbird::cli {

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
