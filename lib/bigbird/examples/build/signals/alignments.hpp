// SPDX-License-Identifier: Apache-2.0
// Reads BAM and CRAM (hts-specs SAMv1, CRAM 2 and 3): which reads count, and where they lie.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>
#include <utility>

namespace bigbird::examples {

/// Which mapped reads count. Secondary and supplementary alignments, reads that failed quality checks, and
/// reads of a pair that is not proper never do.
struct ReadFilter {
    int min_mapq = 30;             ///< 255, which STAR gives to unique reads, passes
    bool keep_duplicates = false;  ///< whether reads that are marked as duplicates count
    bool operator==(const ReadFilter&) const = default;
};

/// Numbers of reads: all, those that count, and the others by the first reason that applies, in this order.
struct ReadCounts {
    std::int64_t all = 0;
    std::int64_t unmapped = 0;  ///< or without a CIGAR
    std::int64_t secondary = 0, supplementary = 0, failed = 0, duplicates = 0, improper = 0, low_mapq = 0,
                 off_reference = 0;
    std::int64_t counted = 0;
    std::int64_t mates = 0;  ///< those of `counted` that are of a pair

    /// Number of fragments that the counted reads are of: a pair is one.
    std::int64_t fragments() const { return counted - mates / 2; }
    ReadCounts& operator+=(const ReadCounts& other);
    bool operator==(const ReadCounts&) const = default;
};

/// The reasons for which reads are dropped, in words, in order.
inline constexpr std::array<std::pair<std::string_view, std::int64_t ReadCounts::*>, 8> dropped_reads{{
    {"unmapped", &ReadCounts::unmapped},
    {"secondary", &ReadCounts::secondary},
    {"supplementary", &ReadCounts::supplementary},
    {"failed quality checks", &ReadCounts::failed},
    {"duplicates", &ReadCounts::duplicates},
    {"not properly paired", &ReadCounts::improper},
    {"mapping quality too low", &ReadCounts::low_mapq},
    {"off the reference", &ReadCounts::off_reference},
}};

/// Bases of the reference that a read or fragment covers, and which of its ends are 5' ends of a read.
struct AlignedSpan {
    std::size_t contig = 0;  ///< index in the reference
    std::int64_t begin = 0, end = 0;
    bool begin_is_5prime = true;  ///< the first base, of a read of the forward strand
    bool end_is_5prime = true;    ///< the last base, of a read of the reverse strand
};
/// Returns false to end the reading.
using VisitSpan = std::function<bool(const AlignedSpan&)>;

/// How alignments are read.
struct AlignmentReading {
    ReadFilter filter{};
    bool whole_fragments = false;  ///< visit a pair once, from its first to its last base
    bool skip_invalid = false;     ///< accept any share of reads that do not match the reference
    int threads = 1;               ///< that decompress
    bool logs = true;              ///< log the counts, and warn of reads off the reference
};

/// Whether a file's name is one of alignments (.bam, .cram).
bool is_alignments(const std::filesystem::path& path);

/// Calls visit() for each read that counts, in the order of the file. A read reaches from its position over
/// the bases of the reference that its CIGAR consumes (M, D, N, =, X), so clipped bases do not count. With
/// whole_fragments a single read is visited as it is, and of a pair only the mate that begins last, with the
/// mate's position as begin. Logs the counts, unless visit() ended the reading or they are not asked for.
/// Needs no index. CRAM is decoded without its sequence, so that no reference is looked for, here or in the
/// network. A child process reads. Throws InputError: SAM text, a damaged or truncated file, contigs of other
/// lengths than the reference's, none in common, reads of another assembly (genome::require_assembly),
/// spliced reads with whole_fragments.
ReadCounts read_alignments(const std::filesystem::path& path, const genome::ReferenceGenome& reference,
                           const AlignmentReading& how, const VisitSpan& visit);

}  // namespace bigbird::examples
