// SPDX-License-Identifier: Apache-2.0
// Motifs as files that the MEME suite reads: its minimal motif format, version 4
// (meme-suite.org/meme/doc/meme-format.html).
#pragma once

#include "bigbird/bins/motifs.hpp"

#include <array>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace bigbird::bins {

/// A motif as a file has it.
struct MemeMotif {
    std::string label;
    std::int64_t sites = 0;
    std::vector<std::array<double, 4>> shares{};  ///< of A C G T at each place
};

/// `labels`: names by Motif::label. Throws ConfigError, WriteError.
void write_meme(const std::filesystem::path& file, std::span<const Motif> motifs,
                std::span<const std::string> labels);
/// What write_meme() wrote. Throws InputError with file and line.
std::vector<MemeMotif> read_meme(const std::filesystem::path& file);

}  // namespace bigbird::bins
