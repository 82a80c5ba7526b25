// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/merge/merge_scores.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/interrupt.hpp"
#include "bigbird/genome/regions/variant_reader.hpp"
#include "bigbird/genome/regions/variant_writer.hpp"
#include "bigbird/outputs/merge/part_rows.hpp"
#include "bigbird/outputs/outputs.hpp"

#include <memory>
#include <vector>

namespace bigbird::outputs {

namespace fs = std::filesystem;

namespace {

/// merge_scores() for VCF or BCF, including the index.
void merge_variants(std::span<const Part> parts, const std::filesystem::path& output, Overwrite overwrite,
                    int threads) {
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
            return line_rows(part.path, kind == Kind::csv);
        case Kind::npy:
            return npy_rows(part, schema);
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
