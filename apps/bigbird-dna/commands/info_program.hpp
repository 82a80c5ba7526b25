// SPDX-License-Identifier: Apache-2.0
// `info --program`: what this program can use on this machine, and why it cannot use the rest.
#pragma once

#include "bigbird/core/formats/json_file.hpp"

#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::cli {

struct InfoOptions {
    std::filesystem::path path;
    bool json = false, verify = false, labels = false, program = false;
};

/// One row of the table.
struct ProgramPart {
    std::string part;
    bool usable = false;
    std::string details;  ///< a description or, if it cannot be used, the reason
};

/// Convert rows to and from JSON lines, which the checking processes exchange. Other lines are skipped.
std::string part_line(const ProgramPart& part);
std::vector<ProgramPart> parts_of_lines(const std::string& lines);

/// For people: columns.
std::string parts_text(const std::vector<ProgramPart>& parts);

/// In bigbird-dna: prints the table. The driver and LibTorch are queried in separate processes, because they
/// may crash or hang.
int run_info_program(const InfoOptions& options);

}  // namespace bigbird::cli
