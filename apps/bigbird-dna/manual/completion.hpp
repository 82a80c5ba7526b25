// SPDX-License-Identifier: Apache-2.0
// Completion scripts for commands, names of options, fixed values, folders and files.
#pragma once

#include "manual/command_tree.hpp"

#include <string>
#include <vector>

namespace bigbird::cli {

std::string bash_completion(const ProgramText& program);
std::string zsh_completion(const ProgramText& program);
std::string fish_completion(const ProgramText& program);

/// All commands in the order of the help, each with the options of every command.
std::vector<CommandText> commands_of(const ProgramText& program);
/// All options of a command that have names.
std::vector<OptionText> options_of(const CommandText& command);
/// The words with blanks between them.
std::string spaced(const std::vector<std::string>& words);

}  // namespace bigbird::cli
