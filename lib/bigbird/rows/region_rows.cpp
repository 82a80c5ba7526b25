// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/region_rows.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/contig_names.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>

namespace bigbird::rows {

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();

Row head_of(const genome::BedRecord& record) {
    return {.where = record.where,
            .name = record.name,
            .score = record.score,
            .strand = record.strand,
            .n_fraction = not_known};
}

/// The row of a line that is not valid BED, from as many of its first six columns as exist.
Row head_of(std::string_view line) {
    constexpr std::size_t columns = 6;
    Row head{.n_fraction = not_known};
    const std::vector<std::string_view> fields = split_fields(line, '\t');
    for (std::size_t i = 0; i < columns; ++i)
        head.as_read.emplace_back(i < fields.size() && !fields[i].empty() ? fields[i] : ".");
    return head;
}

/// Reads the next line; `record` is empty for one that is not BED (with skip_invalid). False at the end.
/// `refused_at`: the last such line. Throws InputError.
bool next_line(genome::BedReader& reader, bool skip_invalid, std::int64_t& refused_at,
               std::optional<genome::BedRecord>& record) {
    try {
        record = reader.next();
        return record.has_value();
    } catch (const InputError&) {
        const bool no_line_further = reader.line_number() == refused_at;  // reading cannot continue
        if (!skip_invalid || no_line_further) throw;
        refused_at = reader.line_number();
        record.reset();
        return true;
    }
}

/// How many rows a record gives.
std::int64_t tiles_of(const genome::BedRecord& record, const RegionOptions& options) {
    if (options.tile == 0 || record.where.size() == 0) return 1;
    const std::int64_t tiles = (record.where.size() + options.tile - 1) / options.tile;
    return options.tile_both_strands && record.strand == genome::Strand::none ? 2 * tiles : tiles;
}

}  // namespace

RegionReader::RegionReader(const std::filesystem::path& regions, const genome::ReferenceGenome& reference,
                           RegionOptions options)
    : reader_(regions, reference), reference_(reference), options_(options) {
    BIGBIRD_EXPECTS(options.bounds.size() > 0 || options.anchor == Anchor::itself, "a window needs bases");
    if (reader_.can_be_read_again()) survey(regions);
}

/// Reads all rows once: counts them, and throws if too many are outside the reference.
void RegionReader::survey(const std::filesystem::path& regions) {
    genome::BedReader reader(regions, reference_);
    genome::AssemblyFit fit;
    std::set<std::string> names;
    std::int64_t refused_at = -1;
    std::optional<genome::BedRecord> record;
    while (next_line(reader, options_.skip_invalid, refused_at, record)) {
        if (!record) {
            ++total_;
            continue;
        }
        names.insert(record->where.contig);
        genome::Interval where = record->where;
        const genome::Fit here = genome::place(where, reference_);
        fit.add(record->where, here, reference_, record->line);
        total_ += here == genome::Fit::inside ? tiles_of(*record, options_) : 1;
    }
    if (genome::numbered_differently(reference_.contigs(), names)) {
        fit.unknown_contig = fit.rows;
        fit.past_end = 0;
        fit.named.clear();
        for (const std::string& name : names)
            fit.foreign[name] = 1;
    }
    genome::require_assembly(fit, reference_, reader_.path().string(), "regions", options_.skip_invalid,
                             options_.can_skip);
}

RegionRow RegionReader::invalid_row(Row head, RowStatus status, std::int64_t line) {
    ++invalid_[status];
    ++rows_;
    RegionRow row{.head = std::move(head), .line = line};
    row.head.status = status;
    return row;
}

RegionRow RegionReader::row_of(const genome::BedRecord& record) {
    const genome::Interval& where = record.where;
    const auto contig = reference_.find(where.contig);
    const bool fits = contig && where.end <= reference_.contigs()[*contig].length;
    fit_.add(where,
             fits     ? genome::Fit::inside
             : contig ? genome::Fit::past_end
                      : genome::Fit::unknown_contig,
             reference_, record.line);
    if (!fits)
        return invalid_row(head_of(record), contig ? RowStatus::bad_interval : RowStatus::no_contig,
                           record.line);
    if (options_.tile > 0 && where.size() > 0) {
        tiled_ = record;
        tiled_contig_ = *contig;
        next_tile_ = where.begin;
        return tile();
    }
    if (options_.anchor != Anchor::itself && where.size() > options_.bounds.size()) ++longer_;
    if (options_.anchor == Anchor::summit && !record.summit) ++without_summit_;
    if (options_.anchor == Anchor::itself && where.size() == 0) ++empty_;
    return row_on(record, reference_.contigs()[*contig]);
}

RegionRow RegionReader::row_on(const genome::BedRecord& record, const genome::Contig& contig) {
    RegionRow row{.head = head_of(record),
                  .window = window_of(record, options_.anchor, options_.bounds),
                  .reverse = options_.use_strand && record.strand == genome::Strand::reverse,
                  .line = record.line};
    row.window.contig = contig.name;
    if (options_.clip) {
        row.window.begin = std::max<std::int64_t>(0, row.window.begin);
        row.window.end = std::min(contig.length, row.window.end);
    }
    ++rows_;
    return row;
}

/// The next tile of the row that is being cut.
RegionRow RegionReader::tile() {
    genome::BedRecord part = *tiled_;
    part.summit.reset();
    part.where.begin = next_tile_;
    part.where.end = std::min(next_tile_ + options_.tile, tiled_->where.end);
    const bool both = options_.tile_both_strands && tiled_->strand == genome::Strand::none;
    if (both) part.strand = reverse_tile_ ? genome::Strand::reverse : genome::Strand::forward;
    if (!both || reverse_tile_) next_tile_ = part.where.end;
    reverse_tile_ = both && !reverse_tile_;
    RegionRow row = row_on(part, reference_.contigs()[tiled_contig_]);
    if (options_.anchor == Anchor::tss) {
        const std::int64_t middle = part.where.begin + part.where.size() / 2;
        row.window = window_about_tss(row.window.contig, middle, part.strand, options_.bounds);
    }
    row.last_of_line = next_tile_ >= tiled_->where.end;
    if (row.last_of_line) tiled_.reset();
    return row;
}

std::optional<RegionRow> RegionReader::next() {
    if (tiled_) return tile();
    std::optional<genome::BedRecord> record;
    if (!next_line(reader_, options_.skip_invalid, refused_at_, record)) return std::nullopt;
    if (record) return row_of(*record);
    return invalid_row(head_of(reader_.text()), RowStatus::malformed, reader_.line_number());
}

void RegionReader::fill(RegionRow& row) const {
    if (!is_scored(row.head.status)) return;
    row.sequence = reference_.fetch(row.window);
    if (row.reverse) row.sequence = genome::reverse_complement(row.sequence);
    const genome::Contig& contig = reference_.contigs()[*reference_.find(row.window.contig)];
    row.head.n_fraction = genome::n_fraction(row.sequence);
    const std::int64_t end = (row.window.end + options_.bin - 1) / options_.bin * options_.bin;
    row.head.status = status_of(row.sequence, row.window.begin < 0 || end > contig.length);
}

void RegionReader::report() const {
    const std::string path = reader_.path().string();
    if (!reader_.can_be_read_again())
        genome::require_assembly(fit_, reference_, path, "regions", options_.skip_invalid, options_.can_skip);
    for (const auto& [status, count] : invalid_) {
        const std::string& where = status == RowStatus::no_contig      ? fit_.foreign_names()
                                   : status == RowStatus::bad_interval ? fit_.longer
                                                                       : std::string();
        log_warning("{}: {} of {} rows are {}{} and have no scores", path, count, rows_, to_string(status),
                    where.empty() ? "" : " (" + where + ")");
    }
    if (longer_ > 0) {
        log_warning(
            "{}: {} of {} rows are longer than the model's window of {} bases, around their {} "
            "only; --tile scores all of a row",
            path, longer_, rows_, options_.bounds.size(), options_.use_strand ? "TSS" : "middle");
    }
    if (without_summit_ > 0) {
        log_warning("{}: {} of {} rows name no summit (narrowPeak's tenth column); their middle is taken",
                    path, without_summit_, rows_);
    }
    if (empty_ > 0) {
        log_warning("{}: {} of {} rows are empty (their start is their end) and have no scores", path, empty_,
                    rows_);
    }
    if (rows_ == 0) log_warning("{}: holds no regions; the output holds none either", path);
}

}  // namespace bigbird::rows
