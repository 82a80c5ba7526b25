// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/fasta_index.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::genome::detail {

/// One FASTA file, or sequence in memory.
struct FastaFile {
    std::filesystem::path path;
    std::vector<FastaEntry> contigs;
    /// Returns the normalized bases [begin, end) of a contig by its index; both within the contig.
    /// Thread-safe. Throws InputError if the file cannot be read.
    std::function<std::string(std::size_t contig, std::int64_t begin, std::int64_t end)> fetch;
};

/// Opens a file by its content; throws as open_references does.
FastaFile open_fasta(const std::filesystem::path& path, LetterCase letter_case);

/// Only names and lengths, by open_contig_lengths' rules; fetch() must not be called.
FastaFile open_lengths(const std::filesystem::path& path);

/// The sequences are normalized.
FastaFile fasta_in_memory(std::vector<std::pair<std::string, std::string>> contigs, LetterCase letter_case);

}  // namespace bigbird::genome::detail
