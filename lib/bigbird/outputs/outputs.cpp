// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/outputs.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/checksum.hpp"
#include "bigbird/outputs/hdf5_sink.hpp"
#include "bigbird/outputs/long_sink.hpp"
#include "bigbird/outputs/npy_sink.hpp"
#include "bigbird/outputs/score_run.hpp"
#include "bigbird/outputs/table_sink.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

constexpr std::string_view place_of_label = "{label}";

bool is_track(Kind kind) {
    return kind == Kind::bedgraph || kind == Kind::bigwig;
}

fs::path with_label(const fs::path& path, const std::string& id) {
    std::string name = path.string();
    for (std::size_t place = 0; (place = name.find(place_of_label, place)) != std::string::npos;
         place += id.size()) {
        name.replace(place, place_of_label.size(), id);
    }
    return name;
}

void check_part(const OutputSpec& spec) {
    for (const fs::path& path : spec.paths) {
        if (path == "-") throw ConfigError("--shard writes a file; --output - cannot be merged");
    }
    for (const auto& [role, path] : spec.inputs) {
        require_readable(path);
        std::error_code error;
        if (!fs::is_regular_file(path, error)) {
            throw ConfigError("--shard needs --" + role + " as a file: a pipe can be read once alone");
        }
    }
}

std::vector<std::pair<std::string, std::string>> checksums_of(const OutputSpec& spec) {
    std::vector<std::pair<std::string, std::string>> checksums;
    for (const auto& [role, path] : spec.inputs)
        checksums.emplace_back(role, sha256_of_file(path));
    return checksums;
}

Layout layout_of_part(Layout layout, const OutputSpec& spec) {
    layout.precision = spec.precision;
    if (spec.shard) layout.provenance.emplace_back("shard", bigbird::to_string(*spec.shard));
    return layout;
}

}  // namespace

std::optional<Kind> kind_of(const fs::path& path) {
    std::string name = path.filename().string();
    std::transform(name.begin(), name.end(), name.begin(),
                   [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
    if (path == "-") return Kind::table;
    for (const char* packed : {".gz", ".bgz"}) {
        if (name.ends_with(packed)) {
            name.resize(name.rfind('.'));
            if (name.ends_with(".long.tsv")) return Kind::long_table;
            if (name.ends_with(".tsv")) return Kind::table;
            if (name.ends_with(".bedgraph") || name.ends_with(".bdg")) return Kind::bedgraph;
            return std::nullopt;
        }
    }
    const std::pair<std::string_view, Kind> endings[] = {{".long.tsv", Kind::long_table},
                                                         {".tsv", Kind::table},
                                                         {".npy", Kind::npy},
                                                         {".h5", Kind::hdf5},
                                                         {".hdf5", Kind::hdf5},
                                                         {".bedgraph", Kind::bedgraph},
                                                         {".bdg", Kind::bedgraph},
                                                         {".bw", Kind::bigwig},
                                                         {".bigwig", Kind::bigwig}};
    for (const auto& [ending, kind] : endings) {
        if (name.ends_with(ending)) return kind;
    }
    return std::nullopt;
}

std::string to_string(Kind kind) {
    constexpr const char* names[] = {"table", "long table", "npy", "hdf5", "bedgraph", "bigwig"};
    return names[static_cast<std::size_t>(kind)];
}

void prepare_outputs(const OutputSpec& spec) {
    if (spec.shard) check_part(spec);
    std::set<fs::path> seen;
    for (const fs::path& path : spec.paths) {
        const auto kind = kind_of(path);
        if (!kind) {
            throw ConfigError(path.string() +
                              ": the ending tells the format of scores: .tsv, .tsv.gz, .long.tsv, .npy, .h5, "
                              ".bedgraph or .bw, or '-' for a table on standard output");
        }
        if (!seen.insert(path.lexically_normal()).second) {
            throw ConfigError(path.string() + ": is given twice as --output");
        }
        if (*kind == Kind::long_table && !spec.min_score) {
            throw ConfigError(path.string() +
                              ": a .long.tsv needs --min-score, from which on a score is written");
        }
        if (is_track(*kind) && !spec.tracks) {
            throw ConfigError(path.string() + ": a track needs scores of places; write .tsv, .npy or .h5");
        }
        if (path == "-") continue;
        if (*kind == Kind::npy) {
            for (const fs::path& part : npy_files(path))
                prepare_output(part, spec.overwrite, part == path ? fs::path() : path);
        } else if (path.string().find(place_of_label) == std::string::npos) {
            prepare_output(path, spec.overwrite);
        }
    }
}

Outputs::Outputs(const OutputSpec& spec, const Layout& layout, std::span<const std::size_t> track_columns,
                 std::span<const genome::Contig> contigs, int threads)
    : spec_(spec), layout_(layout), contigs_(contigs.begin(), contigs.end()) {
    const Layout part = layout_of_part(layout, spec);
    for (const fs::path& path : spec.paths) {
        const Kind kind = *kind_of(path);
        switch (kind) {
            case Kind::table:
                add(table_sink(path, spec.overwrite, part, threads), kind, path);
                break;
            case Kind::long_table:
                add(long_sink(path, spec.overwrite, part, static_cast<float>(spec.min_score.value_or(0)),
                              threads),
                    kind, path);
                break;
            case Kind::npy:
                add(npy_sink(path, spec.overwrite, part), kind, path);
                break;
            case Kind::hdf5:
                add(hdf5_sink(path, spec.overwrite, part), kind, path);
                break;
            case Kind::bedgraph:
            case Kind::bigwig: {
                const bool each = path.string().find(place_of_label) != std::string::npos;
                if (!each && track_columns.size() > 1) {
                    throw ConfigError(
                        path.string() + ": a track holds one label, and " +
                        std::to_string(track_columns.size()) +
                        " are chosen: choose one with --track-labels, or put {label} into the name");
                }
                const TrackFormat format = kind == Kind::bigwig ? TrackFormat::bigwig : TrackFormat::bedgraph;
                for (const std::size_t column : track_columns) {
                    const fs::path track = with_label(path, layout.columns[column].id);
                    add(track_sink(track, spec.overwrite, format, contigs, column, spec.overlap), kind,
                        track);
                    outputs_.back().record.run["column"] = layout.columns[column].name;
                }
                break;
            }
        }
    }
}

void Outputs::add(std::unique_ptr<Sink> sink, Kind kind, const fs::path& path) {
    Output& output = outputs_.emplace_back();
    output.sink = std::move(sink);
    output.files = kind == Kind::npy ? npy_files(path) : std::vector<fs::path>{path};
    output.record.kind = to_string(kind);
    output.record.run = Json::object();
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

void Outputs::commit() {
    end_segment();
    std::vector<PendingOutput*> pending;
    for (const Output& output : outputs_)
        output.sink->finish(pending);
    if (!spec_.shard) {
        commit_together(pending);
        for (const Output& output : outputs_)
            remove_part_record(output.files.front());
        return;
    }
    const auto records = part_records(pending);
    std::vector<PendingOutput*> all;
    for (const auto& record : records)
        all.push_back(record.get());
    all.insert(all.end(), pending.begin(), pending.end());
    commit_together(all);
}

std::vector<std::unique_ptr<PendingOutput>> Outputs::part_records(std::span<PendingOutput* const> pending) {
    std::vector<std::unique_ptr<PendingOutput>> records;
    ScoreRun run{.layout = layout_, .inputs = checksums_of(spec_), .min_score = spec_.min_score};
    run.layout.precision = spec_.precision;
    for (Output& output : outputs_) {
        const bool track = is_track(*kind_of(output.files.front()));
        run.contigs = track ? contigs_ : std::vector<genome::Contig>();
        run.overlap = spec_.overlap;
        output.record.shard = *spec_.shard;
        output.record.run.update(to_json(run));
        for (const auto& [name, value] : spec_.options)
            output.record.run[name] = value;
        std::vector<PendingOutput*> files;
        for (const fs::path& file : output.files)
            files.push_back(*std::ranges::find(pending, file, [](const auto* p) { return p->target(); }));
        records.push_back(pending_part_record(std::move(output.record), files));
    }
    return records;
}

}  // namespace bigbird::outputs
