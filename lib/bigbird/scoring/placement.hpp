// SPDX-License-Identifier: Apache-2.0
// Where models read sequence for a row, and how the values of their windows become the row's. Everything that
// scores, explains or edits rows asks a Placement.
//   bins     windows of a grid of contig coordinates (bins/config.hpp); a row has the mean of the bins that
//   it
//            overlaps, weighted by the overlap, so that it depends only on the reference and the row
//   bases    windows of such a grid with bins of one base; each base has the scores of its token
//   windows  one window around a row's middle, or around its TSS and on its strand (promoters)
//   records  the sequence itself, whatever its length
#pragma once

#include "bigbird/bins/config.hpp"
#include "bigbird/genome/reference/interval.hpp"
#include "bigbird/rows/region_rows.hpp"
#include "bigbird/tasks/model_folder.hpp"
#include "bigbird/tasks/specs/score_specs.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace bigbird::tasks {

/// Returns exactly where.size() bases of normalized sequence, with N beyond the contig's ends. Thread-safe.
using SequenceOf = std::function<std::string(const genome::Interval& where)>;
/// The bases of `where` in a record, which is treated as a contig.
std::string cut_out(const std::string& record, const genome::Interval& where);
/// SequenceOf for a record.
SequenceOf sequence_of_record(std::string dna);

/// How sequences without genome coordinates are read.
struct RecordFit {
    /// Bases of every window, cut or padded with N around the sequence's middle; 0: complete sequences.
    std::int64_t window = 0;
    std::int64_t shortest = 1;  ///< shorter ones get the status bad_interval, or are an error
    bool skip_invalid = false;
    bool can_skip = true;  ///< whether the command has --skip-invalid for them, which errors then name
};

/// A window that is read for a row, and the weights of its segments (bins) in the row's value. Weights sum to
/// 1 over the parts of a row.
struct RowPart {
    genome::Interval window;
    std::vector<std::int64_t> segments;
    std::vector<double> weights;

    /// (segments of the window, 1) float32 on the CPU.
    at::Tensor weights_of_all(std::int64_t count) const;
};

/// Whether both rows begin in the core of the same window.
bool begin_in_one_window(const bins::Grid& grid, const genome::Interval& a, const genome::Interval& b);

/// Number of windows with bins of `where` but none of `before`. `before` may be null, and otherwise precedes
/// `where`.
std::int64_t count_new_windows(const bins::Grid& grid, const genome::Interval* before,
                               const genome::Interval& where);

/// Whether the reverse complement is read, in the order of reading.
std::vector<bool> directions_of(Strands strands);

class Placement {
public:
    /// `by_records`: rows are sequences without genome coordinates. Throws ConfigError if there is no model,
    /// or if models differ in labels, task, window or bins.
    Placement(std::span<const ModelFolder> models, bool by_records);

    bool by_bins() const { return grid_ && !by_bases_; }
    /// Whether each base of a row has scores; rows are then cut by core_rows().
    bool by_bases() const { return by_bases_; }
    /// Of the first model's windows, if it scores bins or bases.
    const bins::Grid& grid() const { return *grid_; }
    /// Throws ConfigError unless all models have the first one's grid.
    void require_one_grid(std::span<const ModelFolder> models) const;
    /// Whether rows have no strand, so that a window may be read on both.
    bool reads_both_strands() const { return !promoters_ && !of_records_; }
    /// Whether models score only sequences, not regions.
    bool of_records() const { return of_records_; }
    /// Whether a record is read whole.
    bool whole_records() const { return whole_records_; }

    /// How windows lie relative to rows of a BED file.
    rows::RegionOptions region_options(rows::Anchor anchor) const;
    RecordFit record_fit() const;
    /// Bases of the longest row with one value; 0: no limit.
    std::int64_t longest() const;
    /// The windows of a row, in the order of the contig.
    std::vector<RowPart> parts(const genome::Interval& where, genome::Strand strand) const;
    /// Whether a row's window is read as its reverse complement.
    bool is_turned(genome::Strand strand) const { return about_tss_ && strand == genome::Strand::reverse; }
    /// Whether both rows are computed together. A job in parts then puts them into the same part.
    bool together(const rows::RegionRow& before, const rows::RegionRow& row) const {
        return grid_ && begin_in_one_window(*grid_, before.window, row.window);
    }
    /// Number of windows that `row` needs and `before`, the row before it, did not. `before` may be null.
    std::int64_t new_windows(const rows::RegionRow* before, const rows::RegionRow& row) const;

private:
    rows::WindowBounds bounds_;
    bool promoters_ = false, of_records_ = false, whole_records_ = false, about_tss_ = false,
         by_records_ = false, by_bases_ = false;
    std::optional<bins::Grid> grid_;
};

}  // namespace bigbird::tasks
