// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "manual/command_tree.hpp"

#include <filesystem>
#include <string>

namespace bigbird::cli {

/// The program's page of the manual in roff, section 1.
std::string program_man_page(const ProgramText& program);

/// A command's page. Throws ConfigError if there is no such command.
std::string command_man_page(const ProgramText& program, const std::string& command);

/// Writes bigbird-dna.1 and bigbird-dna-COMMAND.1 for each command into `folder`, which exists.
void write_man_pages(const ProgramText& program, const std::filesystem::path& folder);

}  // namespace bigbird::cli
