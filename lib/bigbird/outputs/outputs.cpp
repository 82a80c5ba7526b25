// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/outputs.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/outputs/hdf5_sink.hpp"
#include "bigbird/outputs/long_sink.hpp"
#include "bigbird/outputs/npy_sink.hpp"
#include "bigbird/outputs/table_sink.hpp"

#include <algorithm>
#include <cctype>
#include <set>

namespace bigbird::outputs {
namespace fs = std::filesystem;

namespace {

enum class Kind : std::uint8_t { table, long_table, npy, hdf5, bedgraph, bigwig };

constexpr std::string_view place_of_label = "{label}";

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

bool is_track(Kind kind) {
    return kind == Kind::bedgraph || kind == Kind::bigwig;
}

fs::path with_label(const fs::path& path, const std::string& id) {
    std::string name = path.string();
    const std::size_t place = name.find(place_of_label);
    return place == std::string::npos ? path : fs::path(name.replace(place, place_of_label.size(), id));
}

}  // namespace

void prepare_outputs(const OutputSpec& spec) {
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
                prepare_output(part, spec.overwrite);
        } else if (path.string().find(place_of_label) == std::string::npos) {
            prepare_output(path, spec.overwrite);
        }
    }
}

Outputs::Outputs(const OutputSpec& spec, const Layout& layout, std::span<const std::size_t> track_columns,
                 std::span<const genome::Contig> contigs, int threads) {
    for (const fs::path& path : spec.paths) {
        switch (*kind_of(path)) {
            case Kind::table:
                sinks_.push_back(table_sink(path, spec.overwrite, layout, threads));
                break;
            case Kind::long_table:
                sinks_.push_back(long_sink(path, spec.overwrite, layout,
                                           static_cast<float>(spec.min_score.value_or(0)), threads));
                break;
            case Kind::npy:
                sinks_.push_back(npy_sink(path, spec.overwrite, layout));
                break;
            case Kind::hdf5:
                sinks_.push_back(hdf5_sink(path, spec.overwrite, layout));
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
                const TrackFormat format =
                    *kind_of(path) == Kind::bigwig ? TrackFormat::bigwig : TrackFormat::bedgraph;
                for (const std::size_t column : track_columns) {
                    sinks_.push_back(track_sink(with_label(path, layout.columns[column].id), spec.overwrite,
                                                format, contigs, column, spec.overlap));
                }
                break;
            }
        }
    }
}

void Outputs::write(std::span<const rows::Field> head, std::span<const float> values) {
    for (const auto& sink : sinks_)
        sink->write(head, values);
}

void Outputs::commit() {
    for (const auto& sink : sinks_)
        sink->commit();
}

}  // namespace bigbird::outputs
