// SPDX-License-Identifier: Apache-2.0
// The fields before the scores of a row. They keep their types from the reader to the output sinks.
#pragma once

#include "bigbird/genome/reference/interval.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace bigbird::rows {

/// A row's status is the first of these that applies. Rows with a status up to `all_n` have no scores.
enum class RowStatus : std::uint8_t {
    malformed,     ///< the line is not BED (only with --skip-invalid)
    no_contig,     ///< the reference has no such contig (a region: only with --skip-invalid)
    bad_interval,  ///< a region past the contig's end (only with --skip-invalid)
    past_end,      ///< a variant that begins before its contig (POS 0) or reaches past its end
    no_alt,        ///< ALT is "."
    symbolic,      ///< ALT is not sequence: "<DEL>", "*", a breakend
    ref_mismatch,  ///< the reference differs from REF; N in the reference matches any base
    too_long,      ///< the alleles do not fit the window
    no_tss,        ///< no TSS's window holds the variant (promoter models)
    all_n,         ///< only N in the window
    truncated,     ///< the model took only the middle of the window; set by the predictor
    padded,        ///< the window extends beyond the contig's end and has N there
    has_n,         ///< the window holds N
    ok,
};
std::string_view to_string(RowStatus status);
/// Whether a row with this status has scores.
bool is_scored(RowStatus status);
/// The status that follows from a window's bases: all_n (also for a window without bases), padded, has_n or
/// ok. `other`: a second sequence of the row; N in it gives has_n.
RowStatus status_of(std::string_view dna, bool padded = false, std::string_view other = {});

/// A region that is scored.
struct Row {
    genome::Interval where{};             ///< contig spelled as in the input
    std::string name = ".", score = ".";  ///< as in the input, "." where it has none
    genome::Strand strand = genome::Strand::none;
    RowStatus status = RowStatus::ok;
    double n_fraction = 0;  ///< share of N in the window; NaN without a window
    /// Only for a malformed line, whose `where` is empty: its first six columns as read, "." for missing
    /// ones.
    std::vector<std::string> as_read{};
};

/// A field of a row; text is a view. Text in a column of numbers comes from a malformed line.
using Field = std::variant<std::int64_t, double, std::string_view>;

/// The columns before the scores of regions.
inline constexpr std::array<const char*, 8> region_columns{"chrom", "start",  "end",    "name",
                                                           "score", "strand", "status", "n_fraction"};
using RegionFields = std::array<Field, region_columns.size()>;
/// A row's fields in that order, which must not outlive it.
RegionFields fields_of(const Row& row);
/// The columns before the scores of sequences without a position in a genome.
inline constexpr std::array<const char*, 4> record_columns{"id", "length", "status", "n_fraction"};
/// The fields of record_columns for a row whose contig is the record's id. They must not outlive the row.
std::array<Field, record_columns.size()> record_fields_of(const Row& row);
/// A share of N as written to files: rounded to six decimals.
double rounded_share(double n_fraction);

struct RegionRow {
    Row head{};
    /// On the reference's contig, may extend beyond its ends; empty if the row is invalid.
    genome::Interval window{};
    bool reverse = false;      ///< whether to reverse-complement the sequence
    std::int64_t line = 0;     ///< line of the BED file, or the example's number
    bool last_of_line = true;  ///< whether no other tile of the same line follows
    std::int64_t segment = 0;  ///< segment of a job in parts (core/parts)
    std::string sequence{};    ///< the window's, normalized, strand applied; empty if the row is invalid
};

/// A source of rows to score, in order: BED (region_rows), examples or a FASTA (predict). next() is called
/// from one thread at a time, fill() from many.
class RowSource {
public:
    virtual ~RowSource() = default;
    /// The next row without its sequence, or nothing at the end.
    virtual std::optional<RegionRow> next() = 0;
    /// Sets sequence, status and n_fraction of a row that next() gave.
    virtual void fill(RegionRow& row) const = 0;
    /// Logs warnings and counts after all rows are read.
    virtual void report() const = 0;
    /// Total number of rows; 0 if it cannot be known beforehand (pipes).
    virtual std::int64_t total() const = 0;
};

}  // namespace bigbird::rows
