// SPDX-License-Identifier: Apache-2.0
// Reads BED rows to score, each with its window, and checks them against the reference. Gives one row per
// input row, in order.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/assembly_fit.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/window.hpp"

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>

namespace bigbird::rows {

struct RegionOptions {
    Anchor anchor = Anchor::centre;
    WindowBounds bounds{-4000, 4000};
    bool use_strand = false;    ///< rows on the minus strand are reverse-complemented
    bool skip_invalid = false;  ///< mark malformed rows and all rows outside the reference
    bool can_skip = true;       ///< whether the command has --skip-invalid, which errors then name
    /// Bases of a tile; 0: rows are not divided. Tiles are cut from the row's start on; the last one may be
    /// shorter. Each tile gives a row with a window around its middle base (with use_strand, as for a TSS).
    std::int64_t tile = 0;
    /// Bases of a bin, for models that score the bins of a contig from its first base on. A window is padded
    /// if its last bin extends beyond the contig's end.
    std::int64_t bin = 1;
    bool clip = false;               ///< a window ends where its contig does, for models that score bins
    bool tile_both_strands = false;  ///< rows without a strand give a tile on + and one on -
};

/// Reads rows one by one, from pipes too. Errors name file and line and what to do (--skip-invalid). Rows
/// outside the reference are marked. If they are too many (genome::require_assembly) and not skip_invalid,
/// the constructor throws InputError, or report() for a pipe, which can be read only once.
class RegionReader : public RowSource {
public:
    /// `regions`: a file, or the text of regions (genome::BedReader).
    RegionReader(const std::filesystem::path& regions, const genome::ReferenceGenome& reference,
                 RegionOptions options);

    /// The next row, or tile. Throws InputError.
    std::optional<RegionRow> next() override;
    void fill(RegionRow& row) const override;
    /// Logs how many rows were invalid, by reason, and how many are longer than their window; warns if no row
    /// was read. Call it before outputs are committed.
    void report() const override;
    /// The number of rows; 0 for a pipe.
    std::int64_t total() const override { return total_; }
    /// Number of rows read so far.
    std::int64_t rows() const { return rows_; }

private:
    void survey(const std::filesystem::path& regions);
    RegionRow invalid_row(Row head, RowStatus status, std::int64_t line);
    RegionRow row_of(const genome::BedRecord& record);
    RegionRow row_on(const genome::BedRecord& record, const genome::Contig& contig);
    RegionRow tile();

    genome::BedReader reader_;
    const genome::ReferenceGenome& reference_;
    RegionOptions options_;
    genome::AssemblyFit fit_;  ///< of the rows that were read
    std::int64_t total_ = 0;
    std::int64_t refused_at_ = -1;        ///< the last line that is not BED
    std::int64_t rows_ = 0, longer_ = 0;  ///< longer: rows longer than their window
    std::int64_t without_summit_ = 0;     ///< rows without a summit, where summits are needed
    std::int64_t empty_ = 0;              ///< rows without bases, where rows are their own windows
    std::map<RowStatus, std::int64_t> invalid_;
    std::optional<genome::BedRecord> tiled_;  ///< the row that is being cut into tiles
    std::size_t tiled_contig_ = 0;
    std::int64_t next_tile_ = 0;  ///< start of the next tile
    bool reverse_tile_ = false;   ///< the same tile follows on the minus strand
};

}  // namespace bigbird::rows
