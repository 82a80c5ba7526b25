// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/reference/fasta_file.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bigbird::genome {

/// What to do with a contig that has the name of an earlier one.
enum class Repeated : std::uint8_t { refuse, number };

/// Sequence by coordinates: the contigs of all files, one after the other. Const calls are thread-safe.
class ReferenceGenome {
public:
    explicit ReferenceGenome(std::vector<detail::FastaFile> files, Repeated repeated = Repeated::refuse);

    /// In the order of the file(s).
    std::span<const Contig> contigs() const { return contigs_; }
    /// The contig's index by its name or an alias (ContigNames).
    std::optional<std::size_t> find(std::string_view contig) const { return names_.find(contig); }
    /// Normalized sequence (A C G T N, in the case that it was opened with) of exactly where.size() letters,
    /// N outside the contig. Throws InputError where the contig is unknown or the file cannot be read.
    std::string fetch(const Interval& where) const;

private:
    struct Place {
        std::size_t file = 0, index = 0;
        std::int64_t line = 0;
    };
    [[noreturn]] void refuse_twice(const std::string& name, const Place& first, const Place& second) const;

    std::vector<detail::FastaFile> files_;
    std::vector<Contig> contigs_;
    std::vector<Place> places_;
    ContigNames names_;
};

/// Opens FASTA files as one genome: plain, bgzip (random access by .fai/.gzi, read if fresh, else made in
/// memory, never written) or plain gzip (held in memory). With NAME=FASTA, a file's contigs are called
/// NAME#contig, as in pan-genomes (PanSN), so that files with the same contig names can be combined. Throws
/// InputError: missing or empty file, no header, truncated, a contig name that occurs twice. fetch() throws
/// it if a file changed since it was opened.
std::unique_ptr<ReferenceGenome> open_references(std::span<const std::filesystem::path> fastas,
                                                 LetterCase letter_case = LetterCase::upper);
std::unique_ptr<ReferenceGenome> open_reference(const std::filesystem::path& fasta);

/// The records of one FASTA in order, for callers that read each of them. Names may repeat: the second record
/// called NAME becomes NAME#2, which is logged once. Throws as open_references otherwise.
std::unique_ptr<ReferenceGenome> open_records(const std::filesystem::path& fasta);

/// The file of a reference that may be given as NAME=FASTA. If a file has this complete name, it is that
/// file.
std::filesystem::path fasta_of(const std::filesystem::path& reference);

/// Opens only names and lengths, for estimates. Files may also be .fai files or tables of contig and length
/// (chrom.sizes). For a FASTA file a current .fai beside it is read, else the file itself. The result's
/// fetch() must not be called. Throws as open_references, and if a table is malformed.
std::unique_ptr<ReferenceGenome> open_contig_lengths(std::span<const std::filesystem::path> references);

/// For tests and generated sequence. The sequences are normalized.
std::unique_ptr<ReferenceGenome> in_memory_genome(std::vector<std::pair<std::string, std::string>> contigs,
                                                  LetterCase letter_case = LetterCase::upper);

}  // namespace bigbird::genome
