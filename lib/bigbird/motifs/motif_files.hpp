// SPDX-License-Identifier: Apache-2.0
// Reads and writes motif files: the MEME suite's minimal format (meme-suite.org/meme/doc/meme-format.html)
// and JASPAR's (jaspar.elixir.no/docs).
#pragma once

#include "bigbird/core/files.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::motifs {

inline constexpr std::string_view letters = "ACGT";

/// Shares of A C G T; the sum is 1.
using Shares = std::array<double, 4>;

struct Motif {
    std::string id, name{};        ///< name: often the factor; may be empty
    std::int64_t sites = 0;        ///< sites of the motif; 0: unknown
    std::vector<Shares> shares{};  ///< at each position
};

struct MotifSet {
    std::vector<Motif> motifs{};
    Shares background{0.25, 0.25, 0.25, 0.25};
};

/// Reads either format, detected by content, plain or gzip; comments are skipped. MEME's and STREME's text
/// output is MEME's format with more around it. A MEME matrix may lack all keys: it ends at a blank line.
/// Columns that are rounded, with a sum from 0.9 to 1.1, are scaled to 1. JASPAR's matrices are counts or
/// shares, with or without the letters before the rows. Throws InputError with file and line where a file has
/// neither format, no motif, a motif without columns or with a column of zeros, another number of rows than
/// w= says, another alphabet than DNA, or two motifs of one id and name; warns of two of one id.
MotifSet read_motifs(const std::filesystem::path& file);

/// Writes JASPAR's format, as counts, where the name ends in .jaspar, else MEME's. Throws ConfigError,
/// WriteError.
void write_motifs(const std::filesystem::path& file, const MotifSet& set, Overwrite overwrite);

/// Columns of a number for each letter, on the other strand.
template <typename Column>
std::vector<Column> other_strand(std::vector<Column> columns) {
    std::ranges::reverse(columns);
    for (Column& column : columns)
        std::ranges::reverse(column);
    return columns;
}
/// The motif on the other strand.
Motif reverse_complement(Motif motif);

}  // namespace bigbird::motifs
