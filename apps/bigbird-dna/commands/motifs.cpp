// SPDX-License-Identifier: Apache-2.0
// The commands motifs-*.
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/motifs/motif_commands.hpp"
#include "bigbird/outputs/merge/merge_scores.hpp"

#include <algorithm>
#include <functional>

namespace bigbird::cli {

using tasks::ExportMotifsSpec;
using tasks::MarginalizeSpec;

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
    spec.overwrite = options.output.overwrite;
    if (!options.weights.empty()) {
        spec.weights = [&](std::span<const genome::Contig> contigs) {
            return [segments = outputs::read_bigwig(options.weights, contigs)](
                       std::size_t contig, std::int64_t begin, std::int64_t end) {
                return outputs::mean_over(segments, contig, begin, end);
            };
        };
    }
    log_info("{}", counted(motifs::scan_regions(spec), "hit"));
    return 0;
}

int run_compare(const MotifsCompareOptions& options) {
    const motifs::MotifSet queries = motifs::read_motifs(options.queries);
    const motifs::MotifSet known = motifs::read_motifs(options.targets);
    genome::TextOutput output(options.output.output, options.output.overwrite);
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
    ordered_pipeline<std::string>(static_cast<std::int64_t>(queries.motifs.size()), options.threads, rows,
                                  write);
    output.commit();
    return 0;
}

int run_find(const MotifsFindOptions& options) {
    prepare_output(options.output.output, options.output.overwrite);
    auto [label, regions] = outputs::read_attributions(options.attributions);
    motifs::FoundMotifs found = motifs::find_motifs(regions);
    if (found.motifs.empty())
        throw InputError(
            fmt::format("has {} with high contributions, and no 10 of them are alike: give more regions",
                        counted(found.seqlets, "stretch")),
            options.attributions);
    std::ranges::replace(label, ' ', '_');
    for (motifs::Motif& motif : found.motifs)
        motif.name = label;
    log_info("{} of {} with high contributions", counted(std::ssize(found.motifs), "motif"),
             counted(found.seqlets, "stretch"));
    motifs::write_motifs(options.output.output, {.motifs = std::move(found.motifs)},
                         options.output.overwrite);
    return 0;
}

/// Adds --output and --force, which are stored directly in a spec.
template <typename Spec>
void add_outputs(CLI::App& command, Spec& spec, const std::string& what) {
    add_value(command, "-o,--output", "PATH", spec.output, what)
        ->required(spec.output.empty())
        ->group("Output");
    add_force_option(command, spec.overwrite);
}

}  // namespace

void setup_motifs_scan(Program& program) {
    const auto [command, options] = program.add<MotifsScanOptions>(
        "motifs-scan", "Explanations of a model",
        "Find sites of motifs in a genome, with p- and q-values.\nSearches both strands. Scores are log odds "
        "in bits over the background in the motif file, or else over equal letter frequencies. The p-value "
        "is for a single site; the q-value is over all sites of the motif.",
        "",
        {{"Sites of the motifs that a model's filters were initialized with, in the rows of a BED",
          "--motifs chromatin/run/motifs.meme --reference ../test_data/genome/22.fa.gz --regions test.bed "
          "--output hits.bed.gz"},
         {"Fewer, more significant sites, in a complete genome",
          "--motifs chromatin/run/motifs.meme --reference ../test_data/genome/22.fa.gz --p-value 1e-6 "
          "--output hits.bed"}},
        run_scan);
    add_value(command, "--motifs", "FILE", options.spec.motifs, "Motifs in MEME's minimal format or JASPAR's")
        ->required();
    add_reference_option(command, options.spec.references);
    add_regions_option(
        command, "--regions", options.spec.regions,
        "BED of regions to search; overlapping rows are merged. Default: all sequences of the reference");
    add_value(command, "--weights", "BIGWIG", options.weights,
              "Track, such as attributions; its mean over each hit becomes a column");
    add_value(command, "--p-value", "P", options.spec.p_value, "Maximum p-value of a hit",
              CLI::Range(0.0, 1.0));
    add_stream_output_options(command, options.output,
                              "Hits: chrom, start, end, name, score, strand, p, q, motif, and weight with "
                              "--weights; compressed if the name ends in .gz");
    add_own_threads_option(command, options.spec.threads);
}

void setup_motifs_compare(Program& program) {
    const auto [command, options] = program.add<MotifsCompareOptions>(
        "motifs-compare", "Explanations of a model",
        "Find the known motifs most similar to each motif, with p-values.\nCompares on either strand, by "
        "Tomtom's method. The columns of all known motifs are the background, so reliable p-values need 50 "
        "known motifs or more.",
        "",
        {{"The most similar known motif for each motif of a model",
          "chromatin/run/motifs.meme ../test_data/motifs/known.jaspar --output nearest.tsv"},
         {"The five most similar ones, on standard output",
          "chromatin/run/motifs.meme ../test_data/motifs/known.jaspar --nearest 5"}},
        run_compare);
    add_value(command, "MOTIFS", "FILE", options.queries,
              "Motifs to look up, in MEME's minimal format or JASPAR's")
        ->required();
    add_value(command, "KNOWN", "FILE", options.targets, "Known motifs, in MEME's minimal format or JASPAR's")
        ->required();
    add_value(command, "--nearest", "N", options.nearest,
              "Number of known motifs to write per motif, the most similar first", CLI::PositiveNumber);
    add_stream_output_options(command, options.output,
                              "Table: motif, name, known, known_name, p, e (p times the number of known "
                              "motifs), offset (columns from the known motif's first to the motif's first), "
                              "overlap (columns), strand (- : the known motif is reverse-complemented)");
    add_own_threads_option(command, options.threads);
}

void setup_motifs_find(Program& program) {
    const auto [command, options] = program.add<MotifsFindOptions>(
        "motifs-find", "Explanations of a model",
        "Find motifs in the contributions of bases to scores.\nFor each label, clusters stretches with high "
        "contributions by their similarity on either strand, like a simpler TF-MoDISco (which reads the same "
        "HDF5 files).",
        "",
        {{"Motifs in the effects of substitutions", "--attributions effects.h5 --output found.meme"},
         {"The same in JASPAR's format", "--attributions effects.h5 --output found.jaspar"}},
        run_find);
    add_value(command, "--attributions", "FILE", options.attributions,
              "Effects or attributions (.h5) of predict-mutagenesis or attribute")
        ->required();
    add_output_options(
        command, options.output,
        "File of the motifs and their numbers of sites, in JASPAR's format if its name ends in .jaspar, else "
        "in MEME's; the name of a motif that lowers the score begins with negative_");
}

void setup_motifs_export(Program& program, Runner<ExportMotifsSpec> run) {
    const auto [command, spec] = program.add<ExportMotifsSpec>(
        "motifs-export", rare_group,
        "Write the filters of a model's first convolution as motifs.\nEach motif names the label that its "
        "filter feeds or correlates with most. A filter's motif is made from its sites: positions where its "
        "activation exceeds half of its maximum over the sequence. The motifs that filters were initialized "
        "with come first, if the run folder has them.",
        "",
        {{"The filters of a model, and the motifs that they were initialized with",
          "--model chromatin/run --output filters.meme"},
         {"The same from sites in a genome",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --output filters22.meme"}},
        std::move(run));
    add_model_option(command, spec.model);
    add_reference_option(command, spec.references, false)
        ->description("FASTA of sequence to search for sites; default: 1,048,576 random bases");
    add_outputs(command, spec, "MEME file of the motifs and their numbers of sites");
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
}

void setup_motifs_marginalize(Program& program, Runner<MarginalizeSpec> run) {
    const auto [command, spec] = program.add<MarginalizeSpec>(
        "motifs-marginalize", "Explanations of a model",
        "Measure how inserting a motif changes the score of each label.\nThe motif's most likely letters "
        "replace the letters in the middle of background sequences. A bin model scores the bin around the "
        "middle. Effects are differences of log odds; for coverage and counts, of natural logarithms; for "
        "other numbers, differences of the numbers themselves.",
        "",
        {{"Effects of known motifs on each label, in 100 shuffled backgrounds",
          "--model chromatin/run --motifs chromatin/run/motifs.meme --backgrounds shuffled --reference "
          "../test_data/genome/22.fa.gz --output effects-of-motifs.tsv"},
         {"The same in the middles of the rows of a BED",
          "--model chromatin/run --motifs chromatin/run/motifs.meme --backgrounds test.bed --reference "
          "../test_data/genome/22.fa.gz --output effects-there.tsv"}},
        std::move(run));
    add_model_option(command, spec.model)->description("Model folder, run or file of a published model");
    add_component_option(command, spec);
    add_value(command, "--motifs", "FILE", spec.motifs, "Motifs in MEME's minimal format or JASPAR's")
        ->required();
    add_value(command, "--backgrounds", "BED|shuffled", spec.backgrounds,
              "BED rows into whose middles the motif is inserted, or 'shuffled': 100 dinucleotide-shuffled "
              "stretches of the reference")
        ->required();
    add_reference_option(command, spec.references);
    command
        .add_option(
            "--spacing", spec.spacings,
            "Insert pairs of motifs with this many bases between them; several values separated by commas")
        ->delimiter(',')
        ->check(CLI::Range(std::int64_t{0}, std::int64_t{10'000}))
        ->type_name("BP");
    add_outputs(command, spec,
                "Table: motif, name, label, effect (mean over backgrounds), se (standard error), backgrounds "
                "(their number); with --spacing: motif, other, spacing, label, effect (of both), se, "
                "interaction (effect of both minus the effects of each), interaction_se, backgrounds");
    add_value(command, "--profile", "FILE", spec.profile,
              "Also write the mean profiles with and without each motif, of ChromBPNet, BPNet and Cherimoya: "
              "motif, name, label, position (from the motif's middle), with, without")
        ->group("Output");
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
}

}  // namespace bigbird::cli
