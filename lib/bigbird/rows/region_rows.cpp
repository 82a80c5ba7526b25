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
constexpr const char* what_to_do =
    "; give regions of the same assembly, or --skip-invalid to mark such rows and go on";

ScoreRow head_of(const genome::BedRecord& record) {
    return {record.where.contig,
            std::to_string(record.where.begin),
            std::to_string(record.where.end),
            record.name,
            record.score,
            std::string(1, static_cast<char>(record.strand)),
            {},
            not_known};
}

/// The first six columns of a line that is no BED, as far as it has them.
ScoreRow head_of(std::string_view line) {
    ScoreRow head;
    const std::vector<std::string_view> fields = split_fields(line, '\t');
    std::size_t next = 0;
    for (std::string* column :
         {&head.contig, &head.begin, &head.end, &head.name, &head.score, &head.strand}) {
        *column = next < fields.size() && !fields[next].empty() ? std::string(fields[next]) : ".";
        ++next;
    }
    head.n_fraction = not_known;
    return head;
}

}  // namespace

std::string_view to_string(RowStatus status) {
    switch (status) {
        case RowStatus::malformed:
            return "malformed";
        case RowStatus::no_contig:
            return "no_contig";
        case RowStatus::bad_interval:
            return "bad_interval";
        case RowStatus::all_n:
            return "all_n";
        case RowStatus::truncated:
            return "truncated";
        case RowStatus::padded:
            return "padded";
        case RowStatus::has_n:
            return "has_n";
        case RowStatus::ok:
            return "ok";
    }
    return "ok";
}

bool is_scored(RowStatus status) {
    return status > RowStatus::all_n;
}

struct RegionReader::State {
    genome::BedReader reader;
    const genome::ReferenceGenome& reference;
    RegionOptions options;
    std::int64_t rows = 0, longer = 0, refused_at = -1;  ///< longer: than their window
    std::map<RowStatus, std::int64_t> invalid;
    std::optional<genome::BedRecord> tiled;  ///< the row that is being cut into tiles
    std::size_t tiled_contig = 0;
    std::int64_t next_tile = 0;  ///< where it begins
    bool reverse_tile = false;   ///< the same tile comes on the minus strand

    RegionRow invalid_row(ScoreRow head, RowStatus status, std::int64_t line) {
        ++invalid[status];
        ++rows;
        RegionRow row;
        row.head = std::move(head);
        row.line = line;
        row.status = status;
        set_head(row);
        return row;
    }

    RegionRow row_of(const genome::BedRecord& record) {
        const auto contig = reference.find(record.where.contig);
        const auto refuse = [&](RowStatus status, const std::string& what) {
            if (!options.skip_invalid) {
                throw InputError(what + what_to_do, reader.path(), record.line);
            }
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
        return row_on(record, known.name);
    }

    RegionRow row_on(const genome::BedRecord& record, const std::string& contig) {
        RegionRow row;
        row.head = head_of(record);
        row.window = window_of(record, options.anchor, options.bounds);
        row.window.contig = contig;
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
        RegionRow row = row_on(part, reference.contigs()[tiled_contig].name);
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
    : state_(new State{genome::BedReader(regions), reference, options, 0, 0, -1, {}, {}, 0, 0, false}) {
    BIGBIRD_EXPECTS(options.bounds.size() > 0 || options.anchor == Anchor::itself, "a window needs bases");
}

RegionReader::~RegionReader() = default;

std::optional<RegionRow> RegionReader::next() {
    if (state_->tiled) return state_->tile();
    std::optional<genome::BedRecord> record;
    try {
        record = state_->reader.next();
    } catch (const InputError&) {
        const std::int64_t line = state_->reader.line_number();
        if (!state_->options.skip_invalid ||
            line == state_->refused_at) {  // no line further: the file cannot be read on
            throw;
        }
        state_->refused_at = line;
        return state_->invalid_row(head_of(state_->reader.text()), RowStatus::malformed, line);
    }
    return record ? std::optional(state_->row_of(*record)) : std::nullopt;
}

void RegionReader::fill(RegionRow& row) const {
    if (!is_scored(row.status)) {
        return;
    }
    row.sequence = state_->reference.fetch(row.window);
    if (row.reverse) {
        row.sequence = genome::reverse_complement(row.sequence);
    }
    const genome::Contig& contig = state_->reference.contigs()[*state_->reference.find(row.window.contig)];
    const double n = genome::n_fraction(row.sequence);
    if (row.sequence.find_first_not_of('N') == std::string::npos) {
        row.status = RowStatus::all_n;
    } else if (row.window.begin < 0 || row.window.end > contig.length) {
        row.status = RowStatus::padded;
    } else {
        row.status = n > 0 ? RowStatus::has_n : RowStatus::ok;
    }
    row.head.n_fraction = n;
    set_head(row);
}

void RegionReader::report() const {
    for (const auto& [status, count] : state_->invalid) {
        log_warning("{}: {} of {} rows are {} and have no scores", state_->reader.path().string(), count,
                    state_->rows, to_string(status));
    }
    if (state_->longer > 0) {
        log_warning(
            "{}: {} of {} rows are longer than the model's window of {} bases, which lies about their {} "
            "alone; {} scores all of a row",
            state_->reader.path().string(), state_->longer, state_->rows, state_->options.bounds.size(),
            state_->options.use_strand ? "TSS" : "middle", state_->options.use_strand ? "--scan" : "--tile");
    }
    if (state_->rows == 0) {
        log_warning("{}: holds no regions; the output holds none either", state_->reader.path().string());
    }
}

std::int64_t RegionReader::rows() const {
    return state_->rows;
}

void set_head(RegionRow& row) {
    row.head.status = to_string(row.status);
}

}  // namespace bigbird::rows
