// SPDX-License-Identifier: Apache-2.0
// Genes with the exons of one transcript each, as scores of splice variants need them.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace bigbird::rows {

struct SpliceGene {
    /// [begin, end), 0-based, on the gene's contig.
    struct Exon {
        std::int64_t begin = 0, end = 0;
        auto operator<=>(const Exon&) const = default;
    };
    std::string name, contig;  ///< the contig as in the file
    genome::Strand strand = genome::Strand::forward;
    std::int64_t begin = 0, end = 0;  ///< of the transcript, as an exon's
    std::vector<Exon> exons;          ///< at least one, ascending

    bool reverse() const { return strand == genome::Strand::reverse; }
    /// The exons' first and last bases: all of them, ascending, without duplicates.
    std::vector<std::int64_t> boundaries() const;
    /// First bases of exons after an intron, and last bases before one, in the direction of transcription;
    /// ascending.
    std::vector<std::int64_t> acceptors() const { return sites(reverse()); }
    std::vector<std::int64_t> donors() const { return sites(!reverse()); }

private:
    std::vector<std::int64_t> sites(bool last_bases) const;
};

/// Reads SpliceAI's table (#NAME CHROM STRAND TX_START TX_END EXON_START EXON_END; the lists may end in a
/// comma), GTF or GFF3; plain, gzip, bgzip, or standard input ("-"). In the order of the file. Of a gene in
/// GTF or GFF3: the transcript that is tagged Ensembl_canonical, else MANE_Select or RefSeq Select, else the
/// one with the most bases in exons, the first of equal ones; logs how many were chosen by what. Throws
/// InputError with file and line.
std::vector<SpliceGene> read_splice_genes(const std::filesystem::path& path);

/// The genes of a file by position on a reference. Immutable; thread-safe.
class SpliceGenes {
public:
    /// Throws InputError as read_splice_genes(); if no gene is on a contig of the reference; and, unless
    /// `skip_invalid`, if more than a fifth of the introns are past their contig's end or do not begin with
    /// GT and end with AG, as in annotations of another assembly. Logs the genes on contigs that the
    /// reference lacks.
    SpliceGenes(const std::filesystem::path& path, const genome::ReferenceGenome& reference,
                bool skip_invalid = false);

    /// In the order of the file.
    const std::vector<SpliceGene>& genes() const { return genes_; }
    /// Indices of the genes whose transcript has the base, in the order of the file.
    std::vector<std::size_t> at(std::size_t contig, std::int64_t position) const;

private:
    struct OnContig {
        std::vector<std::size_t> genes;  ///< ascending by begin
        std::int64_t longest = 0;
    };
    std::vector<SpliceGene> genes_;
    std::vector<OnContig> by_contig_;
};

}  // namespace bigbird::rows
