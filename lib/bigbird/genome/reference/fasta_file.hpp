// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/fasta_index.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::genome::detail {

/// Handles characters of a FASTA file that are not nucleotide codes: letters (and gaps: - . *) are read as N,
/// with one warning per file; any other character is an error. Thread-safe.
class OtherLetters {
public:
    explicit OtherLetters(std::filesystem::path path, LetterCase letter_case = LetterCase::upper)
        : path_(std::move(path)), letter_case_(letter_case) {}

    /// Checks `text`, in which the vector code found other characters: bases of a contig from 0-based `begin`
    /// on, with line ends. Throws InputError at a byte that is neither letter nor gap.
    void look(std::string_view contig, std::int64_t begin, std::string_view text);
    /// check_and_normalise() for a complete contig without line ends.
    void check_and_normalise(std::string_view contig, std::string& bases);

private:
    std::filesystem::path path_;
    LetterCase letter_case_;
    std::atomic<bool> said_{false};
};

/// One contig of a FastaFile, with the line of its header for messages (0: not known).
struct FastaContig {
    Contig contig;
    std::int64_t line = 0;
};

/// One FASTA file, or sequence in memory. Const calls are thread-safe.
class FastaFile {
public:
    virtual ~FastaFile() = default;

    virtual const std::filesystem::path& path() const = 0;
    virtual std::vector<FastaContig> contigs() const = 0;
    /// Normalized bases [begin, end) of a contig by its index; both within the contig. Throws InputError
    /// if the file cannot be read.
    virtual std::string fetch(std::size_t contig, std::int64_t begin, std::int64_t end) const = 0;
};

/// Opens a file by its content; throws as open_references does.
std::unique_ptr<FastaFile> open_fasta(const std::filesystem::path& path, LetterCase letter_case);

/// Only names and lengths, by open_contig_lengths' rules; fetch() must not be called.
std::unique_ptr<FastaFile> open_lengths(const std::filesystem::path& path);

/// The sequences are normalized.
std::unique_ptr<FastaFile> fasta_in_memory(std::vector<std::pair<std::string, std::string>> contigs,
                                           LetterCase letter_case);

}  // namespace bigbird::genome::detail
