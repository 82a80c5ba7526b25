// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/outputs.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/reference/region_text.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <algorithm>
#include <array>
#include <iterator>
#include <map>
#include <set>

namespace bigbird::outputs {
namespace fs = std::filesystem;

std::vector<HeadColumn> region_head() {
    std::vector<HeadColumn> head;
    head.reserve(std::size(rows::region_columns));
    for (const char* name : rows::region_columns)
        head.push_back({name, FieldKind::text});
    head[1].kind = head[2].kind = FieldKind::integer;
    head.back().kind = FieldKind::real;
    head[4].optional = head[5].optional = true;  // score, strand
    return head;
}

std::vector<HeadColumn> record_head(bool classes) {
    std::vector<HeadColumn> head{{"id", FieldKind::text},
                                 {"length", FieldKind::integer},
                                 {"status", FieldKind::text},
                                 {"n_fraction", FieldKind::real}};
    if (classes) head.push_back({"class", FieldKind::text});
    return head;
}

std::vector<Column> label_columns(const rows::LabelTable& labels, std::span<const std::size_t> chosen) {
    std::vector<Column> columns;
    for (const std::size_t index : chosen) {
        columns.push_back({labels.column_name(index), static_cast<std::int64_t>(index), labels[index].group,
                           labels[index].name, labels.unique_id(index)});
    }
    return columns;
}

void Sink::commit() {
    std::vector<PendingOutput*> pending;
    finish(pending);
    commit_together(pending);
}

namespace {

constexpr std::string_view place_of_label = "{label}", place_of_index = "{index}",
                           place_of_strand = "{strand}";

void replace_all(std::string& text, std::string_view what, const std::string& by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos; at += by.size())
        text.replace(at, what.size(), by);
}

/// The label name that replaces {label} in a path: characters other than A-Z a-z 0-9 . _ + - become '_'.
std::string file_word(std::string name) {
    for (char& letter : name) {
        const bool kept = std::isalnum(static_cast<unsigned char>(letter)) != 0 ||
                          std::string_view("._+-").find(letter) != std::string_view::npos;
        if (!kept) letter = '_';
    }
    return name;
}

/// Replaces {strand} by plus or minus where the label ends so, and takes it off the label.
void replace_strand(std::string& path, std::string& label) {
    if (path.find(place_of_strand) == std::string::npos) return;
    for (const std::string strand : {"plus", "minus"}) {
        if (!label.ends_with('_' + strand)) continue;
        label.resize(label.size() - strand.size() - 1);
        return replace_all(path, place_of_strand, strand);
    }
}

void check_part(const OutputSpec& spec) {
    for (const fs::path& path : spec.paths) {
        require_part_is_file(path);
        const auto kind = kind_of(path);
        if (!kind || kind == Kind::table || (kind == Kind::variants && spec.variants)) continue;
        throw ConfigError(path.string() + ": --shard writes parts as .tsv or .tsv.gz" +
                          (spec.variants ? ", or .vcf, .vcf.gz or .bcf" : "") +
                          "; merge writes any format from them");
    }
    for (const auto& [role, path] : spec.inputs) {
        if (role == "regions" && genome::is_region_text(path)) continue;
        require_readable(path);
        std::error_code error;
        if (!fs::is_regular_file(path, error))
            throw ConfigError("--shard needs --" + role + " as a file: a pipe can be read only once");
    }
}

std::vector<std::pair<std::string, std::string>> checksums_of(const OutputSpec& spec) {
    std::vector<std::pair<std::string, std::string>> checksums;
    for (const auto& [role, path] : spec.inputs)
        checksums.emplace_back(
            role, genome::is_region_text(path) ? sha256_of_text(path.string()) : sha256_of_file(path));
    return checksums;
}

TableSchema schema_of(const Json& json) {
    TableSchema schema;
    for (const Json& column : json.at("head"))
        schema.head.push_back({column.at(0), static_cast<FieldKind>(column.at(1).get<int>()), column.at(2)});
    for (const Json& column : json.at("columns"))
        schema.columns.push_back(
            {column.at(0), column.at(1), column.at(2), column.at(3), column.at(4), column.at(5)});
    schema.effect = json.at("effect");
    schema.provenance = json.at("provenance").get<rows::Provenance>();
    return schema;
}

}  // namespace

bool names_labels(const fs::path& path) {
    return path.string().find(place_of_label) != std::string::npos ||
           path.string().find(place_of_index) != std::string::npos;
}

std::vector<fs::path> paths_of_labels(const fs::path& path, const TableSchema& schema) {
    if (!names_labels(path) && schema.columns.size() > 1) {
        throw ConfigError(path.string() + ": this format holds one label, and " +
                          std::to_string(schema.columns.size()) +
                          " are chosen: choose one with --labels, or put {label} into the name");
    }
    std::vector<fs::path> paths;
    std::map<fs::path, std::string> seen;
    for (const Column& column : schema.columns) {
        std::string name = path.string(), label = column.label;
        replace_strand(name, label);
        replace_all(name, place_of_index, std::to_string(column.index));
        replace_all(name, place_of_label, file_word(label));
        const auto [at, is_new] = seen.emplace(paths.emplace_back(name), column.name);
        if (is_new) continue;
        throw ConfigError(path.string() + ": the labels '" + at->second + "' and '" + column.name +
                          "' would both be written to " + name + ": put {index} into the name");
    }
    return paths;
}

std::optional<Kind> kind_of(const fs::path& path, Kind stream) {
    std::string name = lower_case(path.filename().string());
    if (path == "-") return stream;
    const bool packed = name.ends_with(".gz") || name.ends_with(".bgz");
    if (packed) name.resize(name.rfind('.'));
    struct Ending {
        std::string_view text;
        std::optional<Kind> kind;
        bool may_be_packed = false;
    };
    constexpr Ending endings[] = {{".long.tsv", Kind::long_table, true},
                                  {".tsv", Kind::table, true},
                                  {".long.csv", std::nullopt},
                                  {".csv", Kind::csv, true},
                                  {".npy", Kind::npy},
                                  {".h5", Kind::hdf5},
                                  {".hdf5", Kind::hdf5},
                                  {".bedgraph", Kind::bedgraph, true},
                                  {".bdg", Kind::bedgraph, true},
                                  {".bw", Kind::bigwig},
                                  {".bigwig", Kind::bigwig},
                                  {".vcf", Kind::variants, true},
                                  {".bcf", Kind::variants}};
    for (const Ending& ending : endings)
        if (name.ends_with(ending.text)) return packed && !ending.may_be_packed ? std::nullopt : ending.kind;
    return std::nullopt;
}

void prepare_outputs(const OutputSpec& spec) {
    if (spec.shard) check_part(spec);
    std::set<fs::path> seen;
    for (const fs::path& path : spec.paths) {
        const auto kind = kind_of(path, spec.stream);
        if (!kind) {
            throw ConfigError(
                path.string() +
                ": the ending tells the format of scores: .tsv, .tsv.gz, .csv, .long.tsv, .npy, .h5, " +
                (spec.variants ? ".vcf, .vcf.gz or .bcf" : ".bedgraph or .bw") +
                ", or '-' for standard output");
        }
        if (!seen.insert(path.lexically_normal()).second)
            throw ConfigError(path.string() + ": is given twice as --output");
        if (*kind == Kind::long_table && !spec.min_score) {
            throw ConfigError(path.string() +
                              ": a .long.tsv needs --min-score, the lowest score to write; a command without "
                              "that option writes .tsv");
        }
        if (is_track(*kind) && !spec.tracks)
            throw ConfigError(path.string() + ": a track needs scores of places; write .tsv, .npy or .h5");
        if (*kind == Kind::variants && !spec.variants) {
            throw ConfigError(path.string() +
                              ": only predict-variants writes VCF and BCF; write .tsv or .h5");
        }
        if (path == "-") continue;
        if (!is_track(*kind) && names_labels(path)) {
            throw ConfigError(path.string() +
                              ": {label} and {index} are for tracks, a file per label; this format holds all "
                              "labels, so leave them out");
        }
        if (*kind == Kind::npy)
            for (const fs::path& part : npy_files(path))
                prepare_output(part, spec.overwrite);
        else if (!names_labels(path) && *kind != Kind::variants)
            prepare_output(path, spec.overwrite);
    }
}

Json to_json(const ScoreRun& run) {
    Json json{{"provenance", run.schema.provenance}, {"inputs", run.inputs}, {"effect", run.schema.effect}};
    Json& head = json["head"] = Json::array();
    for (const HeadColumn& column : run.schema.head)
        head.push_back({column.name, static_cast<int>(column.kind), column.optional});
    Json& columns = json["columns"] = Json::array();
    for (const Column& column : run.schema.columns)
        columns.push_back(
            {column.name, column.index, column.group, column.label, column.id, column.quantity});
    if (run.min_score) json["min_score"] = *run.min_score;
    if (!run.contigs.empty()) {
        Json& contigs = json["contigs"] = Json::array();
        for (const genome::Contig& contig : run.contigs)
            contigs.push_back({contig.name, contig.length});
        json["overlap"] = run.overlap == Overlap::max ? "max" : "mean";
    }
    return json;
}

ScoreRun score_run_from_json(const Json& json, const fs::path& where) {
    try {
        ScoreRun run{.schema = schema_of(json), .inputs = json.at("inputs").get<rows::Provenance>()};
        if (std::ranges::any_of(run.schema.head,
                                [](const HeadColumn& c) { return c.kind > FieldKind::real; }))
            throw InputError("is damaged: it names a column of an unknown kind", where);
        if (json.contains("min_score")) run.min_score = json.at("min_score").get<double>();
        if (json.contains("contigs")) {
            for (const Json& contig : json.at("contigs"))
                run.contigs.push_back({contig.at(0), contig.at(1)});
            run.overlap = json.at("overlap") == "max" ? Overlap::max : Overlap::mean;
        }
        return run;
    } catch (const nlohmann::json::exception& error) {
        throw InputError(std::string("is damaged: ") + error.what(), where);
    }
}

Outputs::Outputs(const OutputSpec& spec, const TableSchema& schema, std::span<const genome::Contig> contigs,
                 int threads)
    : spec_(spec), schema_(schema), contigs_(contigs.begin(), contigs.end()) {
    TableSchema part = schema;
    part.many_rows = spec.many_rows;
    part.part = spec.shard.has_value();
    if (part.part) part.provenance.emplace_back("shard", to_string(*spec.shard));
    for (const fs::path& path : spec.paths) {
        const Kind kind = *kind_of(path, spec.stream);
        switch (kind) {
            case Kind::table:
            case Kind::csv:
                adopt(table_sink(path, spec.overwrite, part, threads), path);
                break;
            case Kind::long_table:
                adopt(long_sink(path, spec.overwrite, part, static_cast<float>(spec.min_score.value_or(0)),
                                threads),
                      path);
                break;
            case Kind::npy:
                adopt(npy_sink(path, spec.overwrite, part), path);
                break;
            case Kind::variants:
                break;
            case Kind::hdf5:
                adopt(hdf5_sink(path, spec.overwrite, part), path);
                break;
            case Kind::bedgraph:
            case Kind::bigwig: {
                const std::vector<fs::path> tracks = paths_of_labels(path, schema);
                for (std::size_t i = 0; i < tracks.size(); ++i)
                    adopt(track_sink(tracks[i], spec.overwrite, kind, contigs, i, spec.overlap), tracks[i]);
                break;
            }
        }
    }
}

void Outputs::adopt(std::unique_ptr<Sink> sink, const fs::path& path, const char* kind) {
    outputs_.push_back({.sink = std::move(sink), .path = path, .record = {.kind = kind}});
}

void Outputs::write(std::span<const rows::Field> head, std::span<const float> values) {
    for (const Output& output : outputs_)
        output.sink->write(head, values);
}

void Outputs::begin_segment(std::int64_t segment) {
    if (!spec_.shard || segment == segment_) return;
    end_segment();
    segment_ = segment;
    for (Output& output : outputs_)
        output.record.segments.push_back({segment, 0});
}

void Outputs::end_segment() {
    for (Output& output : outputs_) {
        const std::int64_t records = output.sink->records();
        if (segment_ >= 0) output.record.segments.back().records = records - output.before;
        output.before = records;
    }
}

void Outputs::commit(std::vector<PendingOutput*> pending) {
    commit_together(std::array{this}, std::move(pending));
}

void Outputs::commit_together(std::span<Outputs* const> tables, std::vector<PendingOutput*> pending) {
    std::vector<std::unique_ptr<PendingOutput>> records;
    for (Outputs* const table : tables) {
        table->end_segment();
        for (const Output& output : table->outputs_)
            output.sink->finish(pending);
        if (table->spec_.shard) std::ranges::move(table->part_records(pending), std::back_inserter(records));
    }
    std::ranges::transform(records, std::inserter(pending, pending.begin()),
                           [](const auto& record) { return record.get(); });
    bigbird::commit_together(pending);
    for (const Outputs* const table : tables)
        for (const Output& output : table->outputs_)
            if (!table->spec_.shard) remove_part_record(output.path);
}

std::vector<std::unique_ptr<PendingOutput>> Outputs::part_records(std::span<PendingOutput* const> pending) {
    std::vector<std::unique_ptr<PendingOutput>> records;
    ScoreRun run{.schema = schema_,
                 .inputs = checksums_of(spec_),
                 .min_score = spec_.min_score,
                 .overlap = spec_.overlap};
    if (spec_.tracks) run.contigs = contigs_;
    Json in_common = to_json(run);
    for (const auto& [name, value] : spec_.options)
        in_common[name] = value;
    for (Output& output : outputs_) {
        output.record.shard = *spec_.shard;
        output.record.run = in_common;
        const auto file = std::ranges::find(pending, output.path, [](const auto* p) { return p->target(); });
        records.push_back(pending_part_record(std::move(output.record), **file));
    }
    return records;
}

}  // namespace bigbird::outputs
