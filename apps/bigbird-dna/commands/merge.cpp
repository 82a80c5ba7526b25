// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parts/part_set.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/corpus/merge/merge_tokens.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"

#include <filesystem>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace bigbird::cli {
namespace fs = std::filesystem;

struct MergeOptions {
    std::vector<fs::path> parts, outputs;
    Overwrite overwrite = Overwrite::refuse;
    fs::path manifest;  ///< manifest of documents
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

/// Documents or tokens.
void merge_corpus(const MergeOptions& options, const std::vector<fs::path>& paths, const std::string& kind) {
    if (options.outputs.size() > 1) throw ConfigError("--output: " + kind + " have one output");
    const fs::path& output = options.outputs.front();
    prepare_output(output, options.overwrite);
    if (!options.manifest.empty()) prepare_output(options.manifest, options.overwrite);
    if (kind == "tokens") {
        const std::vector<Part> parts = corpus::open_token_parts(paths, options.threads);
        corpus::merge_tokens(parts, output, options.overwrite, options.threads);
    } else {
        const std::vector<Part> parts = open_parts(paths, options.threads);
        std::optional<PendingOutput> manifest;
        std::vector<PendingOutput*> also;
        if (!options.manifest.empty()) {
            manifest.emplace(options.manifest, options.overwrite);
            manifest->write(
                [&](std::ostream& out) { out << corpus::merged_manifest(parts).dump(2) << '\n'; });
            also.push_back(&*manifest);
        }
        corpus::merge_documents(parts, output, options.overwrite, options.threads, also);
    }
    remove_part_record(output);
}

int run_merge(const MergeOptions& options) {
    const std::vector<fs::path> paths = without_records(options.parts);
    const Part first{paths.front(), read_part_record(paths.front())};
    const std::string& kind = first.record.kind;
    if (kind != "documents" && !options.manifest.empty())
        throw ConfigError("--manifest is of documents; the parts hold " + kind);
    if (kind == "documents" || kind == "tokens") {
        merge_corpus(options, paths, kind);
    } else {
        const auto outputs = outputs::merged_outputs(first, options.outputs, options.overwrite);
        outputs::merge_scores(open_parts(paths, options.threads), outputs, options.threads);
    }
    for (const fs::path& output : options.outputs)
        log_info("{}: {} together", output.string(), counted(paths.size(), "part"));
    return 0;
}

}  // namespace

void setup_merge(Program& program) {
    const auto [command, options] = program.add<MergeOptions>(
        "merge", "Files",
        "Join the parts that commands with --shard wrote. The result is identical "
        "to the output of a single run.",
        "",
        {{"One table from the parts that --shard 1/2 and --shard 2/2 wrote",
          "part-1.tsv.gz part-2.tsv.gz --output scores.tsv.gz"},
         {"The same as HDF5 and as a track per label",
          "part-1.tsv.gz part-2.tsv.gz --output scores.h5 --output 'tracks/{label}.bw'"},
         {"One folder of token shards from several, in any order", "corpus-part-* --output corpus"}},
        run_merge);
    add_value(command, "PART", "FILE", options.parts,
              "All parts of one job, in any order: the files or folders that --output named, each with "
              "its .part.json beside it")
        ->required();
    add_value(
        command, "-o,--output", "PATH", options.outputs,
        "Merged output; rows become any format that their command writes, by the name's ending. Several "
        "outputs can be given")
        ->required()
        ->allow_extra_args(false)
        ->group("Output");
    add_force_option(command, options.overwrite);
    add_value(command, "--manifest", "JSON", options.manifest,
              "Parts of build-documents: also write parameters, counts and checksums, like its --manifest")
        ->group("Output");
    add_own_threads_option(command, options.threads);
}

}  // namespace bigbird::cli
