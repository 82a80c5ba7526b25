// SPDX-License-Identifier: Apache-2.0
// motifs-scan, motifs-compare, motifs-find.
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"

#include <algorithm>
#include <functional>

namespace bigbird::cli {

struct MotifsScanOptions {
    motifs::ScanSpec spec;
    std::filesystem::path weights;
    OutputOptions output;
};

struct MotifsCompareOptions {
    std::filesystem::path queries, targets;
    OutputOptions output;
    int nearest = 1, threads = 0;
};

struct MotifsFindOptions {
    std::filesystem::path attributions;
    OutputOptions output;
};

namespace {

int run_scan(const MotifsScanOptions& options) {
    motifs::ScanSpec spec = options.spec;
    spec.output = options.output.output;
    spec.overwrite = options.output.overwrite();
    spec.threads = resolve_threads(spec.threads);
    if (!options.weights.empty()) {
        spec.weights = [&](std::span<const genome::Contig> contigs) {
            return [segments = outputs::read_bigwig(options.weights, contigs)](
                       std::size_t contig, std::int64_t begin, std::int64_t end) {
                return outputs::mean_over(segments, contig, begin, end);
            };
        };
    }
    log_info("{} hits", motifs::scan_regions(spec));
    return 0;
}

int run_compare(const MotifsCompareOptions& options) {
    const motifs::MotifSet queries = motifs::read_motifs(options.queries);
    const motifs::MotifSet known = motifs::read_motifs(options.targets);
    genome::TextOutput output(options.output.output, options.output.overwrite());
    output.write("#motif\tname\tknown\tknown_name\tp\te\toffset\toverlap\tstrand\n");
    const auto shown = [](const std::string& name) { return name.empty() ? "." : name; };
    const std::function rows = [&](std::int64_t index) {
        const motifs::Motif& query = queries.motifs[static_cast<std::size_t>(index)];
        auto found = motifs::compare(query, known.motifs);
        found.resize(std::min(found.size(), static_cast<std::size_t>(options.nearest)));
        std::string text;
        for (const motifs::Similarity& each : found) {
            const motifs::Motif& target = known.motifs[each.target];
            text += fmt::format("{}\t{}\t{}\t{}\t{:.4g}\t{:.4g}\t{}\t{}\t{}\n", query.id, shown(query.name),
                                target.id, shown(target.name), each.p_value,
                                each.p_value * static_cast<double>(known.motifs.size()), each.offset,
                                each.overlap, each.reverse ? '-' : '+');
        }
        return text;
    };
    const std::function write = [&](std::string&& text) { output.write(text); };
    ordered_pipeline<std::string>(static_cast<std::int64_t>(queries.motifs.size()),
                                  resolve_threads(options.threads), rows, write);
    output.commit();
    return 0;
}

int run_find(const MotifsFindOptions& options) {
    prepare_output(options.output.output, options.output.overwrite());
    auto [label, regions] = outputs::read_attributions(options.attributions);
    motifs::FoundMotifs found = motifs::find_motifs(regions);
    if (found.motifs.empty())
        throw InputError(
            fmt::format("{} stretches have high contributions, and no 10 of them are alike: give "
                        "more regions",
                        found.seqlets),
            options.attributions);
    std::ranges::replace(label, ' ', '_');
    for (motifs::Motif& motif : found.motifs)
        motif.name = label;
    log_info("{} motifs of {} stretches with high contributions", found.motifs.size(), found.seqlets);
    motifs::write_motifs(options.output.output, {.motifs = std::move(found.motifs)},
                         options.output.overwrite());
    return 0;
}

}  // namespace

void setup_motifs_scan(Program& program) {
    auto options = std::make_shared<MotifsScanOptions>();
    CLI::App& command = program.add(
        "motifs-scan", "Motifs",
        "Find sites of motifs in a genome, on both strands, with p- and q-values.\nScores are log odds in "
        "bits over the background in the motif file, or else over equal letter frequencies. The p-value is "
        "for a single site; the q-value is over all sites of the motif.",
        options, run_scan);
    add_value(command, "--motifs", "FILE", options->spec.motifs,
              "Motifs in MEME's minimal format or JASPAR's")
        ->required();
    add_reference_option(command, options->spec.references);
    add_value(command, "--regions", "BED", options->spec.regions,
              "BED of regions to search; default: all sequences of the reference");
    add_value(command, "--weights", "BIGWIG", options->weights,
              "Track, such as attributions; its mean over each hit becomes a column");
    add_value(command, "--p-value", "P", options->spec.p_value, "Maximum p-value of a hit",
              CLI::Range(0.0, 1.0));
    add_stream_output_options(command, options->output,
                              "Hits: chrom, start, end, name, score, strand, p, q, motif, and weight with "
                              "--weights; compressed if the name ends in .gz");
    add_threads_option(command, options->spec.threads);
    set_help(command,
             {{},
              {{"Sites of the motifs that a model's filters were initialized with, in the rows of a BED",
                "bigbird-dna motifs-scan --motifs chromatin/run/motifs.meme --reference "
                "../test_data/genome/22.fa.gz --regions test.bed --output hits.bed.gz"},
               {"Fewer, more significant sites, in a complete genome",
                "bigbird-dna motifs-scan --motifs chromatin/run/motifs.meme --reference "
                "../test_data/genome/22.fa.gz --p-value 1e-6 --output hits.bed"}}});
}

void setup_motifs_compare(Program& program) {
    auto options = std::make_shared<MotifsCompareOptions>();
    CLI::App& command = program.add(
        "motifs-compare", "Motifs",
        "Find the known motifs most similar to each motif, on either strand, with p-values.\nUses Tomtom's "
        "method. The columns of all known motifs are the background, so reliable p-values need 50 known "
        "motifs or more.",
        options, run_compare);
    add_value(command, "MOTIFS", "FILE", options->queries,
              "Motifs to look up, in MEME's minimal format or JASPAR's")
        ->required();
    add_value(command, "KNOWN", "FILE", options->targets,
              "Known motifs, in MEME's minimal format or JASPAR's")
        ->required();
    add_value(command, "--nearest", "N", options->nearest,
              "Known motifs to write per motif, the most similar first", CLI::PositiveNumber);
    add_stream_output_options(command, options->output,
                              "Table: motif, name, known, known_name, p, e (p times the number of known "
                              "motifs), offset, overlap, strand");
    add_threads_option(command, options->threads);
    set_help(command, {{},
                       {{"The most similar known motif for each motif of a model",
                         "bigbird-dna motifs-compare chromatin/run/motifs.meme "
                         "../test_data/motifs/known.jaspar --output nearest.tsv"},
                        {"The five most similar ones, on standard output",
                         "bigbird-dna motifs-compare chromatin/run/motifs.meme "
                         "../test_data/motifs/known.jaspar --nearest 5"}}});
}

void setup_motifs_find(Program& program) {
    auto options = std::make_shared<MotifsFindOptions>();
    CLI::App& command = program.add(
        "motifs-find", "Motifs",
        "Find motifs in the contributions of bases to scores, for each label.\nClusters stretches with high "
        "contributions by their similarity on either strand, like a simpler TF-MoDISco (which reads the same "
        "HDF5 files).",
        options, run_find);
    add_value(command, "--attributions", "FILE", options->attributions,
              "Effects or attributions (.h5) of predict-mutagenesis or attribute")
        ->required();
    add_output_options(
        command, options->output,
        "Motifs and their numbers of sites, in JASPAR's format if the name ends in .jaspar, else in MEME's");
    set_help(command, {{},
                       {{"Motifs in the effects of substitutions",
                         "bigbird-dna motifs-find --attributions effects.h5 --output found.meme"},
                        {"The same in JASPAR's format",
                         "bigbird-dna motifs-find --attributions effects.h5 --output found.jaspar"}}});
}

}  // namespace bigbird::cli
