// SPDX-License-Identifier: Apache-2.0
// BED rows to be scored, each with its window, checked against the reference: one row out for each row in, in
// order.
#pragma once

#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/rows/score_table.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace bigbird::rows {

/// In the order in which the first that holds is the row's status.
enum class RowStatus : std::uint8_t {
    malformed,     ///< the line is no BED (only with skip_invalid); not scored
    no_contig,     ///< the reference has no such contig (only with skip_invalid); not scored
    bad_interval,  ///< past the contig's end (only with skip_invalid); not scored
    all_n,         ///< nothing but N in the window; not scored
    truncated,     ///< the model took only the middle of the window; set by the predictor
    padded,        ///< the window hangs over the contig's end; N stands there
    has_n,         ///< the window holds N
    ok,
};
std::string_view to_string(RowStatus status);
/// Whether a row with this status has scores.
bool is_scored(RowStatus status);

struct RegionOptions {
    Anchor anchor = Anchor::centre;
    WindowBounds bounds{-4000, 4000};
    bool use_strand = false;  ///< rows on the minus strand are reverse-complemented
    bool skip_invalid =
        false;  ///< mark rows that do not lie on the reference, instead of ending with InputError
    /// Bases of a tile; 0: a row is scored as it is. Else it is cut into tiles from its start on, the last
    /// one shorter, and each gives a row of its own whose window lies about its middle base (with use_strand
    /// as about a TSS).
    std::int64_t tile = 0;
    bool tile_both_strands = false;  ///< rows without a strand give a tile on + and one on -
};

struct RegionRow {
    ScoreRow head;  ///< columns as in the file; status and n_fraction are filled by `fill`
    genome::Interval
        window;  ///< on the reference's contig, may hang over its ends; empty where the row is invalid
    bool reverse = false;      ///< the sequence is to be reverse-complemented
    std::int64_t line = 0;     ///< in the BED file
    bool last_of_line = true;  ///< no tile of the same line follows
    RowStatus status = RowStatus::ok;
    std::string sequence;  ///< the window's, normalised, strand applied; empty where the row is invalid
};

/// Reads rows one by one, from pipes too. Errors name file and line and what to do (--skip-invalid).
class RegionReader {
public:
    RegionReader(const std::filesystem::path& regions, const genome::ReferenceGenome& reference,
                 RegionOptions options);
    ~RegionReader();

    /// The next row, or tile, without its sequence, or nothing at the end. Throws InputError. Not
    /// thread-safe.
    std::optional<RegionRow> next();
    /// Fetches the sequence, sets status and n_fraction. Thread-safe.
    void fill(RegionRow& row) const;
    /// Says once on standard error how many rows were invalid, by reason, and how many are longer than their
    /// window; warns where no row was read.
    void report() const;
    std::int64_t rows() const;

private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Sets head.status from status.
void set_head(RegionRow& row);

}  // namespace bigbird::rows
