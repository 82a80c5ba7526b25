// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/region_rows.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <limits>
#include <map>

namespace bigbird::rows {

namespace {

constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
constexpr const char* what_to_do = "; give regions of the same assembly";
constexpr const char* or_skip = ", or --skip-invalid to mark such rows and go on";

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

/// Reads lines, and continues after lines that are not BED if these are marked (--skip-invalid).
class Lines {
public:
    Lines(const std::filesystem::path& path, bool skip_invalid)
        : reader_(path), skip_invalid_(skip_invalid) {}

    /// The next line: a record, or an inner nullopt for a line that is not BED; nullopt at the end. Throws
    /// InputError.
    std::optional<std::optional<genome::BedRecord>> next() {
        try {
            std::optional<genome::BedRecord> record = reader_.next();
            if (!record) return std::nullopt;
            return record;
        } catch (const InputError&) {
            const bool no_line_further = reader_.line_number() == refused_at_;  // reading cannot continue
            if (!skip_invalid_ || no_line_further) throw;
            refused_at_ = reader_.line_number();
            return std::optional<genome::BedRecord>();
        }
    }
    const genome::BedReader& reader() const { return reader_; }

private:
    genome::BedReader reader_;
    bool skip_invalid_;
    std::int64_t refused_at_ = -1;
};

/// How many rows a record gives.
std::int64_t tiles_of(const genome::BedRecord& record, const RegionOptions& options) {
    if (options.tile == 0 || record.where.size() == 0) return 1;
    const std::int64_t tiles = (record.where.size() + options.tile - 1) / options.tile;
    return options.tile_both_strands && record.strand == genome::Strand::none ? 2 * tiles : tiles;
}

}  // namespace

struct RegionReader::State {
    Lines lines;
    const genome::ReferenceGenome& reference;
    RegionOptions options;
    std::int64_t rows = 0, longer = 0;  ///< longer: rows longer than their window
    std::int64_t without_summit = 0;    ///< rows without a summit, where summits are needed
    std::int64_t empty = 0;             ///< rows without bases, where rows are their own windows
    std::map<RowStatus, std::int64_t> invalid{};
    std::optional<genome::BedRecord> tiled{};  ///< the row that is being cut into tiles
    std::size_t tiled_contig = 0;
    std::int64_t next_tile = 0;  ///< start of the next tile
    bool reverse_tile = false;   ///< the same tile follows on the minus strand

    const std::filesystem::path& path() const { return lines.reader().path(); }

    RegionRow invalid_row(Row head, RowStatus status, std::int64_t line) {
        ++invalid[status];
        ++rows;
        RegionRow row{.head = std::move(head), .line = line};
        row.head.status = status;
        return row;
    }

    RegionRow row_of(const genome::BedRecord& record) {
        const auto contig = reference.find(record.where.contig);
        const auto refuse = [&](RowStatus status, const std::string& what) {
            if (!options.skip_invalid)
                throw InputError(what + what_to_do + (options.can_skip ? or_skip : ""), path(), record.line);
            return invalid_row(head_of(record), status, record.line);
        };
        if (!contig) {
            return refuse(RowStatus::no_contig,
                          "contig '" + record.where.contig + "' is not in the reference");
        }
        const genome::Contig& known = reference.contigs()[*contig];
        if (record.where.end > known.length) {
            return refuse(RowStatus::bad_interval,
                          "end " + std::to_string(record.where.end) + " lies past the end of contig '" +
                              known.name + "', which has " + std::to_string(known.length) + " bases");
        }
        if (options.tile > 0 && record.where.size() > 0) {
            tiled = record;
            tiled_contig = *contig;
            next_tile = record.where.begin;
            return tile();
        }
        if (options.anchor != Anchor::itself && record.where.size() > options.bounds.size()) ++longer;
        if (options.anchor == Anchor::summit && !record.summit) ++without_summit;
        if (options.anchor == Anchor::itself && record.where.size() == 0) ++empty;
        return row_on(record, known);
    }

    RegionRow row_on(const genome::BedRecord& record, const genome::Contig& contig) {
        RegionRow row;
        row.head = head_of(record);
        row.window = window_of(record, options.anchor, options.bounds);
        row.window.contig = contig.name;
        if (options.clip) {
            row.window.begin = std::max<std::int64_t>(0, row.window.begin);
            row.window.end = std::min(contig.length, row.window.end);
        }
        row.reverse = options.use_strand && record.strand == genome::Strand::reverse;
        row.line = record.line;
        ++rows;
        return row;
    }

    /// The next tile of the row that is being cut.
    RegionRow tile() {
        genome::BedRecord part = *tiled;
        part.summit.reset();
        part.where.begin = next_tile;
        part.where.end = std::min(next_tile + options.tile, tiled->where.end);
        const bool both = options.tile_both_strands && tiled->strand == genome::Strand::none;
        if (both) part.strand = reverse_tile ? genome::Strand::reverse : genome::Strand::forward;
        if (!both || reverse_tile) next_tile = part.where.end;
        reverse_tile = both && !reverse_tile;
        RegionRow row = row_on(part, reference.contigs()[tiled_contig]);
        if (options.anchor == Anchor::tss) {
            const std::int64_t middle = part.where.begin + part.where.size() / 2;
            row.window = window_about_tss(row.window.contig, middle, part.strand, options.bounds);
        }
        row.last_of_line = next_tile >= tiled->where.end;
        if (row.last_of_line) tiled.reset();
        return row;
    }
};

RegionReader::RegionReader(const std::filesystem::path& regions, const genome::ReferenceGenome& reference,
                           RegionOptions options)
    : state_(new State{Lines(regions, options.skip_invalid), reference, options}) {
    BIGBIRD_EXPECTS(options.bounds.size() > 0 || options.anchor == Anchor::itself, "a window needs bases");
}

RegionReader::~RegionReader() = default;

std::optional<RegionRow> RegionReader::next() {
    if (state_->tiled) return state_->tile();
    const auto line = state_->lines.next();
    if (!line) return std::nullopt;
    if (*line) return state_->row_of(**line);
    const genome::BedReader& reader = state_->lines.reader();
    return state_->invalid_row(head_of(reader.text()), RowStatus::malformed, reader.line_number());
}

void RegionReader::fill(RegionRow& row) const {
    if (!is_scored(row.head.status)) return;
    row.sequence = state_->reference.fetch(row.window);
    if (row.reverse) row.sequence = genome::reverse_complement(row.sequence);
    const genome::Contig& contig = state_->reference.contigs()[*state_->reference.find(row.window.contig)];
    row.head.n_fraction = genome::n_fraction(row.sequence);
    const std::int64_t bin = state_->options.bin, end = (row.window.end + bin - 1) / bin * bin;
    row.head.status = status_of(row.sequence, row.window.begin < 0 || end > contig.length);
}

void RegionReader::report() const {
    for (const auto& [status, count] : state_->invalid) {
        log_warning("{}: {} of {} rows are {} and have no scores", state_->path().string(), count,
                    state_->rows, to_string(status));
    }
    if (state_->longer > 0) {
        log_warning(
            "{}: {} of {} rows are longer than the model's window of {} bases, around their {} "
            "only; --tile scores all of a row",
            state_->path().string(), state_->longer, state_->rows, state_->options.bounds.size(),
            state_->options.use_strand ? "TSS" : "middle");
    }
    if (state_->without_summit > 0) {
        log_warning("{}: {} of {} rows name no summit (narrowPeak's tenth column); their middle is taken",
                    state_->path().string(), state_->without_summit, state_->rows);
    }
    if (state_->empty > 0) {
        log_warning("{}: {} of {} rows are empty (their start is their end) and have no scores",
                    state_->path().string(), state_->empty, state_->rows);
    }
    if (state_->rows == 0)
        log_warning("{}: holds no regions; the output holds none either", state_->path().string());
}

std::int64_t RegionReader::rows() const {
    return state_->rows;
}

std::int64_t RegionReader::total() const {
    std::error_code error;
    if (state_->path() == "-" || !std::filesystem::is_regular_file(state_->path(), error)) return 0;
    Lines lines(state_->path(), true);
    std::int64_t total = 0;
    while (const auto line = lines.next())
        total += *line ? tiles_of(**line, state_->options) : 1;
    return total;
}

}  // namespace bigbird::rows
