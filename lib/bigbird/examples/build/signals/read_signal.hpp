// SPDX-License-Identifier: Apache-2.0
// Reads signal along a genome: bigWig, bedGraph (UCSC), or sequencing fragments as BED or BEDPE.
#pragma once

#include "bigbird/core/choice.hpp"
#include "bigbird/examples/build/signals/bigwig.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"

#include <cstdint>
#include <filesystem>
#include <string_view>

namespace bigbird::examples {

/// Which bases of a fragment count: its first and its last, or all.
enum class Counted : std::uint8_t { ends, fragments };
inline constexpr Choices<Counted, 2> counted_choices{
    {{Counted::ends, "ends"}, {Counted::fragments, "fragments"}}};

struct SignalReading {
    Counted counted = Counted::ends;
    std::int64_t begin_shift = 0, end_shift = 0;  ///< added to a fragment's first and last base
    bool skip_invalid = false;  ///< accept any share of rows that do not match the reference

    /// Sets both shifts from a text such as "4,-5". Returns false if it is not two numbers.
    bool parse_shift(std::string_view text);
    bool operator==(const SignalReading&) const = default;
};

/// Whether a file's name is a bigWig's (.bw, .bigwig).
bool is_bigwig(const std::filesystem::path& path);
/// Whether a file's name is one of fragments (.bed, .bedpe, .tsv, plain or compressed), not bigWig (.bw,
/// .bigwig) or bedGraph (.bedgraph, .bdg). Throws ConfigError for any other name.
bool holds_fragments(const std::filesystem::path& path);

/// Calls add() for every interval or fragment on the reference's contigs (by name or alias). Returns the
/// file's total number of intervals or fragments. Texts have tabs, or blanks as UCSC's bedGraph may. BED of
/// fragments may have any columns after the third; rows are pairs (BEDPE) where columns 4 to 6 of most of the
/// first are the place of another read. Throws InputError, with the line for text: what read_bigwig() throws,
/// a value that is not a finite number, bedGraph rows that overlap or do not ascend on a contig, rows of
/// fragments that do not, with a number in column 4 of all (bedGraph by another name), rows of another
/// assembly (genome::require_assembly); other rows off the reference are counted in a warning.
std::int64_t read_signal(const std::filesystem::path& path, const genome::ReferenceGenome& reference,
                         const SignalReading& how, const AddSignal& add);

}  // namespace bigbird::examples
