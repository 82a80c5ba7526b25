// SPDX-License-Identifier: Apache-2.0
// Reads signal along a genome: bigWig, bedGraph (UCSC), sequencing fragments as BED or BEDPE, or reads as
// BAM, CRAM or tagAlign.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/build/signals/alignments.hpp"
#include "bigbird/examples/build/signals/bigwig.hpp"
#include "bigbird/examples/build/signals/cut_shift.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string_view>

namespace bigbird::examples {

/// Which bases of a fragment or read count: its 5' ends, two of a fragment and one of a read, or all.
enum class Counted : std::uint8_t { ends, fragments };
inline constexpr Choices<Counted, 2> counted_choices{
    {{Counted::ends, "ends"}, {Counted::fragments, "fragments"}}};

/// Of which strand's reads the 5' ends count. A fragment begins with one of the forward strand, and ends with
/// one of the reverse strand.
enum class CountedStrand : std::uint8_t { both, forward, reverse };

struct SignalReading {
    Counted counted = Counted::ends;
    std::int64_t begin_shift = 0, end_shift = 0;  ///< added to a fragment's first and last base
    bool skip_invalid = false;  ///< accept any share of rows that do not match the reference
    /// atac and dnase: unless shifts are given, they follow from the shift that the file has (CutSites).
    Assay assay = Assay::none;
    bool has_shift = false;  ///< whether shifts are given
    CountedStrand strand = CountedStrand::both;
    ReadFilter filter{};  ///< of BAM and CRAM
    int threads = 1;      ///< that decompress BAM and CRAM; change no result

    /// Sets both shifts from a text such as "4,-4". Returns false if it is not two numbers.
    bool parse_shift(std::string_view text);
    /// `counted`, or all bases if the assay is coverage.
    Counted counts() const { return assay == Assay::coverage ? Counted::fragments : counted; }
    bool operator==(const SignalReading&) const = default;
};

/// What a file held.
struct SignalRead {
    std::int64_t rows =
        0;  ///< intervals or fragments; reads of tagAlign; of BAM and CRAM ReadCounts::fragments()
    std::optional<ReadCounts> reads{};  ///< of BAM and CRAM
    std::optional<ShiftFound> shift{};  ///< of atac and dnase
};

/// Whether a file's name is one of a binary format (.bw, .bigwig, .bam, .cram).
bool is_binary_signal(const std::filesystem::path& path);
/// Whether a file's name is one of fragments or reads (.bed, .bedpe, .tsv, .tagalign, plain or compressed;
/// .bam, .cram), not bigWig (.bw, .bigwig) or bedGraph (.bedgraph, .bdg). Throws ConfigError for any other
/// name.
bool holds_fragments(const std::filesystem::path& path);

/// Calls add() for every interval, or for what counts of every fragment or read, on the reference's contigs
/// (by name or alias). A 5' end is the first base of a fragment or of a read of the forward strand, or the
/// last base of a fragment or of a read of the reverse strand, plus the shift; it may then be off the contig.
/// Texts have tabs, or blanks as UCSC's bedGraph may. BED of fragments may have any columns after the third;
/// rows are pairs (BEDPE) where columns 4 to 6 of most of the first are the place of another read. Rows of
/// tagAlign are reads, with their strand in column 6. Reads a file of atac or dnase twice, at first up to
/// CutSites::enough_sites, and logs the shift; warns if it is assumed. Throws InputError, with the line for
/// text: what read_bigwig() and read_alignments() throw, a value that is not a finite number, bedGraph rows
/// that overlap or do not ascend on a contig, rows of fragments that do not, with a number in column 4 of all
/// (bedGraph by another name), rows of another assembly (genome::require_assembly); other rows off the
/// reference are counted in a warning.
SignalRead read_signal(const std::filesystem::path& path, const genome::ReferenceGenome& reference,
                       const SignalReading& how, const AddSignal& add);

}  // namespace bigbird::examples
