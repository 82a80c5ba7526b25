// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/corpus/merge/merge_tokens.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"

#include <array>
#include <filesystem>
#include <ostream>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace bigbird::cli {
namespace fs = std::filesystem;

struct MergeOptions {
    std::vector<std::filesystem::path> parts;
    OutputOptions output;
    std::filesystem::path manifest;  ///< manifest of documents
    int threads = 0;
};

namespace {

/// Removes records and indices, which a glob such as PART* also matches.
std::vector<fs::path> without_records(std::vector<fs::path> paths) {
    std::erase_if(paths, [](const fs::path& path) {
        return path.string().ends_with(".part.json") || path.extension() == ".tbi" ||
               path.extension() == ".csi";
    });
    if (paths.empty()) throw ConfigError("no part is given, only records of parts");
    return paths;
}

void merge(const MergeOptions& options, const std::vector<fs::path>& paths, int threads) {
    const Overwrite overwrite = options.output.overwrite;
    const std::string kind = read_part_record(paths.front()).kind;
    if (kind != "documents" && !options.manifest.empty())
        throw ConfigError("--manifest is of documents; the parts hold a " + kind);
    if (kind == "tokens") {
        const std::vector<Part> parts = corpus::open_token_parts(paths, threads);
        return corpus::merge_tokens(parts, options.output.output, overwrite, threads);
    }
    const std::vector<Part> parts = open_parts(paths, threads);
    if (kind != "documents") return outputs::merge_scores(parts, options.output.output, overwrite, threads);
    if (options.manifest.empty())
        return corpus::merge_documents(parts, options.output.output, overwrite, threads);
    PendingOutput manifest(options.manifest, overwrite);
    manifest.write([&](std::ostream& out) { out << corpus::merged_manifest(parts).dump(2) << '\n'; });
    corpus::merge_documents(parts, options.output.output, overwrite, threads, std::array{&manifest});
}

int merge_one(const MergeOptions& options) {
    prepare_output(options.output.output, options.output.overwrite);
    if (!options.manifest.empty()) prepare_output(options.manifest, options.output.overwrite);
    const std::vector<fs::path> paths = without_records(options.parts);
    merge(options, paths, options.threads);
    remove_part_record(options.output.output);
    log_info("{}: {} together", options.output.output.string(), counted(paths.size(), "part"));
    return 0;
}

/// The place of a label's name or index in a file name; empty if there is none.
std::string_view place_in(const std::string& name) {
    for (const std::string_view place : {"{label}", "{index}"})
        if (name.find(place) != std::string::npos) return place;
    return {};
}

/// What replaces the place in the names of the files that a pattern names.
std::set<std::string> labels_of_part(const fs::path& pattern) {
    const std::string name = pattern.filename().string();
    const std::string_view place = place_in(name);
    if (place.empty()) throw ConfigError(pattern.string() + ": {label} or {index} is not in the file name");
    const std::size_t at = name.find(place);
    const std::string before = name.substr(0, at), after = name.substr(at + place.size());
    std::set<std::string> labels;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(pattern.parent_path() / ".", error)) {
        const std::string file = entry.path().filename().string();
        if (file.size() >= before.size() + after.size() && file.starts_with(before) && file.ends_with(after))
            labels.insert(file.substr(at, file.size() - before.size() - after.size()));
    }
    if (labels.empty()) throw InputError("no such files", pattern);
    return labels;
}

fs::path with_label(const fs::path& pattern, const std::string& label) {
    std::string name = pattern.filename().string();
    const std::string_view place = place_in(name);
    return pattern.parent_path() / name.replace(name.find(place), place.size(), label);
}

/// One merged file per label, where predict --output 'DIR/{label}.bw' wrote the parts.
int run_merge(const MergeOptions& options) {
    if (place_in(options.output.output.filename().string()).empty()) return merge_one(options);
    const std::set<std::string> labels = labels_of_part(options.parts.front());
    for (const fs::path& part : options.parts)
        if (labels_of_part(part) != labels)
            throw InputError("has other labels than " + options.parts.front().string(), part);
    for (const std::string& label : labels)
        prepare_output(with_label(options.output.output, label), options.output.overwrite);
    for (const std::string& label : labels) {
        MergeOptions one = options;
        one.output.output = with_label(options.output.output, label);
        for (fs::path& part : one.parts)
            part = with_label(part, label);
        merge_one(one);
    }
    return 0;
}

}  // namespace

void setup_merge(Program& program) {
    const auto [command, options] = program.add<MergeOptions>(
        "merge", "Tools",
        "Join the parts that commands with --shard wrote. The result is identical "
        "to the output of a single run.",
        "",
        {{"One table from the parts that --shard 1/2 and --shard 2/2 wrote",
          "part-1.tsv.gz part-2.tsv.gz --output scores.tsv.gz"},
         {"One track per label", "'part-1/{label}.bw' 'part-2/{label}.bw' --output 'tracks/{label}.bw'"},
         {"One folder of token shards from several, in any order", "corpus-part-* --output corpus"}},
        run_merge);
    add_value(command, "PART", "FILE", options.parts,
              "All parts of one job, in any order: the files or folders that --output named, each with "
              "its .part.json beside it")
        ->required();
    add_output_options(command, options.output, "Merged output, in the parts' format");
    add_value(command, "--manifest", "JSON", options.manifest,
              "Parts of build-documents: also write parameters, counts and checksums, like its --manifest")
        ->group("Output");
    add_own_threads_option(command, options.threads);
}

}  // namespace bigbird::cli
