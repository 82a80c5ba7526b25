// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/merge_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/mapped_file.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/genome/regions/variant_writer.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/outputs/merge/part_rows.hpp"
#include "bigbird/outputs/merge/readers.hpp"
#include "bigbird/outputs/outputs.hpp"
#include "bigbird/outputs/sinks.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

namespace bigbird::outputs {

namespace fs = std::filesystem;

namespace {

/// Lines after the header of a table (CSV or not), or of a long table.
class LineRows : public PartRows {
public:
    LineRows(const fs::path& path, bool csv) : lines_(path) {
        while (lines_.next(line_) && !csv && line_.starts_with("##")) {
        }
    }
    void copy(std::int64_t records, Outputs& whole) override {
        for (; records > 0; --records) {
            if (!lines_.next(line_)) throw miscounted(lines_.path(), "lines");
            whole.copy(line_ += '\n', next_numbers());
        }
    }
    void require_end() override {
        if (lines_.next(line_)) throw miscounted(lines_.path(), "lines");
    }

private:
    virtual std::span<const std::byte> next_numbers() { return {}; }

    genome::TextInput lines_;
    std::string line_;
};

class NpyRows : public LineRows {
public:
    NpyRows(const Part& part, const TableSchema& schema)
        : LineRows(npy_files(part.path)[1], false),
          file_(part.path),
          row_bytes_(schema.columns.size() * (schema.precision == Precision::float16 ? 2 : 4)) {
        const std::int64_t rows = records_of(part.record);
        const std::size_t columns = schema.columns.size();
        const std::string_view type = npy_type(schema.precision);
        if (!is_npy_of(file_.bytes(), type, rows, columns)) {  // otherwise numbers would be misread
            throw InputError("is not the matrix of " + std::to_string(rows) + " rows and " +
                                 std::to_string(columns) + " columns of " +
                                 std::string(word_of(precision_choices, schema.precision)) +
                                 " that its .part.json counts: one of the two was changed",
                             part.path);
        }
        left_ = file_.bytes().subspan(npy_header(type, rows, columns).size());
    }
    void copy(std::int64_t records, Outputs& whole) override {
        LineRows::copy(records, whole);
        file_.release(file_.bytes().size() - left_.size());
    }

private:
    std::span<const std::byte> next_numbers() override {
        const auto row = left_.first(row_bytes_);
        left_ = left_.subspan(row_bytes_);
        return row;
    }

    MappedFile file_;
    std::size_t row_bytes_;
    std::span<const std::byte> left_;
};

std::vector<Segment> read_bedgraph(const fs::path& path, const std::vector<genome::Contig>& contigs) {
    std::vector<Segment> segments;
    std::map<std::string, std::uint32_t, std::less<>> numbers;
    for (const genome::Contig& contig : contigs)
        numbers.emplace(contig.name, static_cast<std::uint32_t>(numbers.size()));
    genome::TextInput input(path);
    std::string line;
    while (input.next(line)) {
        auto fields = rows::split_fields(line, '\t');
        const bool fits = fields.size() == 4;
        fields.resize(4);
        const auto contig = numbers.find(fields[0]);
        const auto begin = parse_number<std::uint32_t>(fields[1]),
                   end = parse_number<std::uint32_t>(fields[2]);
        const auto value = parse_number<float>(fields[3]);
        if (!fits || contig == numbers.end() || !begin || !end || !value)
            throw InputError("is no line of a bedGraph of this run", path, input.line_number());
        segments.push_back({contig->second, *begin, *end, *value});
    }
    return segments;
}

/// A mean over rows in several parts cannot be computed from the parts' means.
void require_apart(std::vector<Segment>& segments, const std::vector<genome::Contig>& contigs) {
    std::ranges::sort(segments, {}, [](const Segment& s) { return std::tie(s.contig, s.begin, s.end); });
    for (std::size_t i = 1; i < segments.size(); ++i) {
        const Segment &before = segments[i - 1], &here = segments[i];
        if (before.contig != here.contig || before.end <= here.begin) continue;
        throw InputError(
            "rows of two parts overlap at " + contigs[here.contig].name + ":" +
            std::to_string(here.begin + 1) +
            "; their mean cannot be told from parts of a track: write such rows as .tsv, .npy or .h5");
    }
}

/// Writes all tracks of `parts`, bigWig or bedGraph, for the only column of `run`.
void copy_tracks(std::span<const Part> parts, const ScoreRun& run, Outputs& whole) {
    std::vector<Segment> segments;
    for (const Part& part : parts) {
        stop_if_asked();
        const std::vector<Segment> some = part.record.kind == to_string(Kind::bigwig)
                                              ? read_bigwig(part.path, run.contigs)
                                              : read_bedgraph(part.path, run.contigs);
        segments.insert(segments.end(), some.begin(), some.end());
    }
    if (run.overlap == Overlap::mean) require_apart(segments, run.contigs);
    for (const Segment& segment : segments) {
        const rows::Field head[] = {std::string_view(run.contigs[segment.contig].name),
                                    std::int64_t{segment.begin}, std::int64_t{segment.end}};
        whole.write(head, std::span(&segment.value, 1));
    }
}

/// merge_scores() for VCF or BCF, including the index.
void merge_variants(std::span<const Part> parts, const fs::path& output, Overwrite overwrite, int threads) {
    genome::prepare_variant_output(output, overwrite);
    std::vector<genome::VariantReader> readers;
    std::shared_ptr<genome::VariantHeader> header;
    for (const Part& part : parts) {
        readers.emplace_back(part.path);
        if (header)
            readers.back().share_header(header);
        else
            header = readers.back().keep_records({});
    }
    genome::VariantWriter writer(output, overwrite, header, threads);
    for (const Piece& piece : order_of(parts)) {
        stop_if_asked();
        for (std::int64_t i = 0; i < piece.records; ++i) {
            const auto variant = readers[piece.part].next();
            if (!variant) throw miscounted(parts[piece.part].path, "records");
            writer.write(*variant);
        }
    }
    for (std::size_t i = 0; i < readers.size(); ++i)
        if (readers[i].next()) throw miscounted(parts[i].path, "records");
    std::vector<PendingOutput*> pending;
    writer.finish(pending);
    commit_together(pending);
    remove_part_record(output);
}

/// Returns nullptr for tracks and variants.
std::unique_ptr<PartRows> rows_of(const Part& part, Kind kind, const TableSchema& schema) {
    switch (kind) {
        case Kind::table:
        case Kind::csv:
        case Kind::long_table:
            return std::make_unique<LineRows>(part.path, kind == Kind::csv);
        case Kind::npy:
            return std::make_unique<NpyRows>(part, schema);
        case Kind::hdf5:
            return hdf5_rows(part, schema);
        case Kind::bedgraph:
        case Kind::bigwig:
        case Kind::variants:
            break;
    }
    return nullptr;
}

ScoreRun run_of(const Part& part, bool track) {
    ScoreRun run = score_run_from_json(part.record.run, part_record_path(part.path));
    std::vector<Column>& columns = run.schema.columns;
    const Json column = part.record.run.value("column", Json());
    if (track) std::erase_if(columns, [&](const Column& c) { return column != c.name; });
    if (track && columns.size() != 1)
        throw InputError("is damaged: it does not name the track's column", part_record_path(part.path));
    return run;
}

}  // namespace

void merge_scores(std::span<const Part> parts, const fs::path& output, Overwrite overwrite, int threads) {
    const Part& first = parts.front();
    const std::optional<Kind> kind = kind_of(output);
    if (!kind || to_string(*kind) != first.record.kind || output == "-") {
        throw ConfigError(output.string() + ": the parts are of the format " + first.record.kind +
                          "; the output's name must end as theirs do, such as " +
                          first.path.filename().string());
    }
    if (*kind == Kind::variants) return merge_variants(parts, output, overwrite, threads);
    const bool track = kind == Kind::bedgraph || kind == Kind::bigwig;
    const ScoreRun run = run_of(first, track);
    std::vector<std::unique_ptr<PartRows>> rows;
    for (const Part& part : parts)
        rows.push_back(rows_of(part, *kind, run.schema));
    const std::size_t columns[] = {0};
    Outputs whole({.paths = {output},
                   .overwrite = overwrite,
                   .min_score = run.min_score,
                   .overlap = run.overlap,
                   .precision = run.schema.precision},
                  run.schema, columns, run.contigs, threads);
    if (track) copy_tracks(parts, run, whole);
    for (const Piece& piece : track ? std::vector<Piece>() : order_of(parts)) {
        stop_if_asked();
        rows[piece.part]->copy(piece.records, whole);
    }
    for (const auto& part : rows)
        if (part) part->require_end();
    whole.commit();
}

}  // namespace bigbird::outputs
