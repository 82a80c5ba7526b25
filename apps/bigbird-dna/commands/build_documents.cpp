// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/corpus_options.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/corpus/documents/document_writer.hpp"
#include "bigbird/corpus/merge/merge_tokens.hpp"

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

namespace bigbird::cli {

struct BuildDocumentsOptions {
    std::vector<std::filesystem::path> references;
    corpus::DrawingSpec documents;
    OutputOptions output;
    std::filesystem::path manifest;
    std::optional<Shard> shard;
    std::string format = "text";  ///< of standard output
    bool dry_run = false;
    std::uint64_t seed = 0;
    int threads = 0;
};

namespace {

constexpr std::int64_t megabase = 1'000'000;

std::int64_t megabases(const genome::ReferenceGenome& genome) {
    std::int64_t bases = 0;
    for (const genome::Contig& contig : genome.contigs())
        bases += contig.length;
    return bases / megabase;
}

int forecast(const BuildDocumentsOptions& options) {
    const auto lengths = genome::open_contig_lengths(options.references);
    const corpus::BuildSpec spec = options.documents.on(*lengths, options.seed);
    const corpus::Forecast forecast = corpus::forecast_documents(*lengths, spec, options.threads);
    std::fputs(corpus::describe(forecast, spec).c_str(), stdout);
    return 0;
}

/// Commits documents, manifest and part record: all or none.
void put_in_place(const BuildDocumentsOptions& options, corpus::DocumentWriter& writer,
                  const std::function<Json()>& describe, std::vector<PartSegment> segments) {
    std::vector<PendingOutput*> outputs;
    if (PendingOutput* const documents = writer.finish()) outputs.push_back(documents);
    std::unique_ptr<PendingOutput> record;
    std::optional<PendingOutput> manifest_file;
    const Json manifest = options.shard || !options.manifest.empty() ? describe() : Json();
    if (options.shard) {
        record = pending_part_record(corpus::documents_record(manifest, *options.shard, std::move(segments)),
                                     *outputs.front());
        outputs.insert(outputs.begin(), record.get());
    }
    if (!options.manifest.empty()) {
        manifest_file.emplace(options.manifest, options.output.overwrite);
        manifest_file->write([&](std::ostream& out) { out << manifest.dump(2) << '\n'; });
        outputs.insert(outputs.begin(), &*manifest_file);
    }
    commit_together(outputs);
    if (!options.shard) remove_part_record(options.output.output);
}

int run_build_documents(const BuildDocumentsOptions& options) {
    options.documents.build.validate();
    if (options.dry_run) return forecast(options);
    if (options.output.output.empty()) throw ConfigError("--output is needed, or --dry-run");
    if (options.shard) require_part_is_file(options.output.output);
    const std::string name = options.output.output.string();
    const bool bed =
        name == "-" ? options.format == "bed" : name.ends_with(".bed") || name.ends_with(".bed.gz");
    const auto form = bed ? corpus::DocumentForm::coordinates : corpus::DocumentForm::text;
    if (!options.manifest.empty()) prepare_output(options.manifest, options.output.overwrite);
    const auto genome = genome::open_references(options.references);
    corpus::BuildSpec spec = options.documents.on(*genome, options.seed);
    spec.shard = options.shard;
    corpus::DocumentWriter writer(options.output.output, form, spec, options.output.overwrite,
                                  options.threads);

    Progress progress("documents", "Mbp", megabases(*genome) * spec.documents.passes);
    const auto text = form == corpus::DocumentForm::text ? corpus::BuildText::yes : corpus::BuildText::no;
    std::vector<PartSegment> segments;
    const auto write = [&](corpus::PlacedDocument&& document) {
        if (segments.empty() || segments.back().number != document.segment)
            segments.push_back({document.segment, 0});
        ++segments.back().records;
        writer.write(document);
    };
    const corpus::BuildCounts counts =
        corpus::build_documents(*genome, spec, text, options.threads, write,
                                [&](std::int64_t bases) { progress.update(bases / megabase); });
    put_in_place(
        options, writer,
        [&] {
            const corpus::DocumentInputs inputs{options.references, options.documents.include,
                                                options.documents.exclude};
            return corpus::document_manifest(form, spec, counts, inputs);
        },
        std::move(segments));
    log_info("{}; {}", counts.describe(spec), Progress::duration(progress.end()));
    return 0;
}

}  // namespace

void setup_build_documents(Program& program) {
    const auto [command, options] = program.add<BuildDocumentsOptions>(
        "build-documents", "A genome without labels",
        "Cut a genome into documents of sentences.\nThe defaults follow appendix F.1 of the BigBird paper.",
        "--reference --include --exclude --seed --shard --output",
        {{"Documents of chromosome 22 without the held-out stretch",
          "--reference ../test_data/genome/22.fa.gz --exclude held_out.bed --passes 2 --seed 1 --output "
          "documents.txt.gz"},
         {"Expected sizes of ten passes, without writing them",
          "--reference ../test_data/genome/22.fa.gz --dry-run"}},
        run_build_documents);
    add_reference_option(command, options.references);
    add_document_options(command, options.documents);
    add_seed_option(command, options.seed);
    add_output_options(command, options.output,
                       "Documents to write: coordinates if the name ends in .bed or .bed.gz, else text, a "
                       "sentence per line; compressed if it ends in .gz; - is standard output");
    add_choice_option(command, "--format", options.format, {"text", "bed"},
                      "Format of standard output (--output -)");
    add_value(command, "--manifest", "JSON", options.manifest,
              "Also write parameters, counts and checksums of the inputs, as JSON")
        ->group("Output");
    command.add_flag("--dry-run", options.dry_run,
                     "Only print the expected sizes, from the .fai of --reference (which may itself be a "
                     ".fai or chrom.sizes file)");
    option_of(command, "--output")->required(false);
    add_shard_option(command, options.shard, "documents");
    add_own_threads_option(command, options.threads);
}

}  // namespace bigbird::cli
