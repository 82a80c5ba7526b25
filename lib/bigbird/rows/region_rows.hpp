// SPDX-License-Identifier: Apache-2.0
// Reads BED rows to score, each with its window, and checks them against the reference. Gives one row per
// input row, in order.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/rows/row.hpp"
#include "bigbird/rows/row_source.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>

namespace bigbird::rows {

struct RegionOptions {
    Anchor anchor = Anchor::centre;
    WindowBounds bounds{-4000, 4000};
    bool use_strand = false;    ///< rows on the minus strand are reverse-complemented
    bool skip_invalid = false;  ///< mark rows outside the reference, instead of ending with InputError
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

/// Reads rows one by one, from pipes too. Errors name file and line and what to do (--skip-invalid).
class RegionReader : public RowSource {
public:
    RegionReader(const std::filesystem::path& regions, const genome::ReferenceGenome& reference,
                 RegionOptions options);
    ~RegionReader() override;

    /// The next row, or tile. Throws InputError.
    std::optional<RegionRow> next() override;
    void fill(RegionRow& row) const override;
    /// Logs how many rows were invalid, by reason, and how many are longer than their window; warns if no row
    /// was read.
    void report() const override;
    /// Reads the file a second time; a line that is not BED counts as a row. Throws InputError if the file
    /// breaks off.
    std::int64_t total() const override;
    /// Number of rows read so far.
    std::int64_t rows() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace bigbird::rows
