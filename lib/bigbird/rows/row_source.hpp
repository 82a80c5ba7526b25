// SPDX-License-Identifier: Apache-2.0
// The interface of sources of rows to score: BED (region_rows), examples or a FASTA (predict).
#pragma once

#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/rows/row.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace bigbird::rows {

struct RegionRow {
    Row head{};
    genome::Interval
        window{};  ///< on the reference's contig, may extend beyond its ends; empty if the row is invalid
    bool reverse = false;      ///< whether to reverse-complement the sequence
    std::int64_t line = 0;     ///< line of the BED file, or the example's number
    bool last_of_line = true;  ///< whether no other tile of the same line follows
    std::int64_t segment = 0;  ///< segment of a job in parts (core/parts)
    std::string sequence{};    ///< the window's, normalized, strand applied; empty if the row is invalid
};

/// Rows in order. next() is called from one thread at a time, fill() from many.
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
