// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bigbird::task_models {

/// Returns a page section with the sequence logo of each motif of a file (motifs/motif_files.hpp). A letter's
/// height is its share times the information of its position, 2 bits at most (Schneider and Stephens, Nucleic
/// Acids Res. 18:6097, 1990). Empty if there is no such file.
std::string logos_html(const std::filesystem::path& meme);

}  // namespace bigbird::task_models
