// SPDX-License-Identifier: Apache-2.0
// Checks that rows (peaks, TSSs, variants) belong to the assembly of the reference. A FASTA with only a part
// of the genome does not count as a wrong assembly.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace bigbird::genome {

/// Whether an interval is on a reference.
enum class Fit : std::uint8_t { inside, unknown_contig, past_end };

/// Counts of rows by how they fit a reference. Not thread-safe; add up counts of several threads by +=.
struct AssemblyFit {
    /// Rows around a contig's end.
    struct End {
        std::int64_t past = 0;  ///< rows past it
        bool reached = false;   ///< whether another row ends within the last 1,000 bases
    };

    std::int64_t rows = 0, unknown_contig = 0, past_end = 0;
    std::int64_t ref_mismatch = 0;  ///< rows whose sequence differs from the reference
    std::string mismatched = "whose REF is not the reference's";  ///< what they are called
    std::map<std::size_t, End> named;             ///< contigs of the reference that occur in rows, by index
    std::map<std::string, std::int64_t> foreign;  ///< rows on each contig that the reference lacks
    std::string longer;           ///< the first contig that a row goes past, and its length; empty: none
    std::int64_t first_line = 0;  ///< of the first row that is not on the reference; 0: unknown

    /// Counts one row; its contig may be an alias. `line`: its line in its file, from 1.
    void add(const Interval& where, Fit fit, const ReferenceGenome& reference, std::int64_t line = 0);
    /// Adds the rows of another file, and leaves first_line.
    AssemblyFit& operator+=(const AssemblyFit& other);
    std::int64_t off_reference() const { return unknown_contig + past_end; }
    /// "3 on contigs that the reference lacks (M, Un_1), 1 past a contig's end (22 has 51304566 bases)";
    /// empty if all rows fit. Names at most five contigs, those with the most rows.
    std::string misfits() const;
    std::string foreign_names() const;
};

/// Throws InputError if more than a fifth of the rows do not fit, unless `skip_invalid`. Rows on contigs that
/// the reference lacks do not count if rows name at least half of its contigs. Rows past a contig's end do
/// not count if no known assembly (GRCh37, GRCh38) has a contig of this length, or if other rows end close to
/// its end. Rows of which none is on the reference never fit. `what`: the rows' kind in messages, such as
/// "peaks"; `can_skip`: whether the command has
/// --skip-invalid.
void require_assembly(const AssemblyFit& fit, const ReferenceGenome& reference, const std::string& source,
                      const std::string& what, bool skip_invalid, bool can_skip = true);

}  // namespace bigbird::genome
