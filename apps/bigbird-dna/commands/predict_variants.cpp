// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "support/tasks.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/progress.hpp"
#include "bigbird/core/words.hpp"
#include "bigbird/rows/window.hpp"
#include "bigbird/scoring/splicing/predict_splicing.hpp"

#include <algorithm>
#include <cstdio>

namespace bigbird::cli {

using tasks::BackgroundSpec;
using tasks::EffectSpec;
using tasks::VariantSpec;

namespace {

constexpr std::int64_t most_bins = 10'001;

/// Parses "centre" or "max:5".
void set_scorer(EffectSpec& spec, const std::string& text) {
    const std::size_t colon = text.find(':');
    spec.scorer = parse_choice(tasks::bin_scorer_choices, "--scorer", text.substr(0, colon));
    if (colon == std::string::npos) return;
    const auto bins = parse_number<std::int64_t>(text.substr(colon + 1));
    if (!bins || *bins < 1 || *bins > most_bins)
        throw CLI::ValidationError("--scorer",
                                   "'" + text + "' does not end in a number of bins, up to 10001");
    spec.bins = *bins;
}

/// Adds the options that affect effects.
void add_variant_options(CLI::App& command, EffectSpec& spec, const std::string& variants) {
    add_value(command, "-m,--model", "DIR", spec.models,
              "Model folder, run or file of a published model; given several times, the mean of the models' "
              "scores. Or one pretrained model")
        ->required();
    add_component_option(command, spec);
    add_reference_option(command, spec.references);
    add_value(command, "--variants", "VCF", spec.variants, variants)->required();
    add_value(command, "--tss", "BED|GTF|GFF3", spec.tss,
              "Promoter models: score a variant in the window of the nearest of these TSSs");
    add_value(command, "--window", "BP", spec.window, "Bases around a variant that a token model reads",
              CLI::Range(std::int64_t{1}, rows::longest_window));
    add_parsed(
        command, "--scorer", "centre|max:N|mean:N|l2:N|sum:N",
        [&spec](const std::string& text) { set_scorer(spec, text); },
        "Bin models. centre: the effect on the variant's bin; max, mean, l2, sum: the largest, mean, norm or "
        "sum of the effects on the N bins around the variant",
        "centre");
    add_choice_option(command, "--reverse-complement", spec.strands, tasks::variant_strand_choices,
                      "none: score only the given strand; average: the mean of both strands' scores; only: "
                      "score only the reverse complement. Default: average; for promoter models, none");
    command.add_flag("--skip-invalid", spec.skip_invalid,
                     "Continue even if more than 20 % of the rows do not match the reference");
}

/// The options of splice models.
void add_splice_options(CLI::App& command, VariantSpec& spec) {
    constexpr std::int64_t longest_distance = 4999;
    const HelpGroup in_group(command, "Splice models");
    add_value(
        command, "--annotation", "TSV|GTF|GFF3", spec.annotation,
        "Genes with their exons: SpliceAI's table, or GTF or GFF3, of which one transcript per gene is used");
    add_value(command, "--distance", "BP", spec.distance,
              "Bases on each side of a variant where splice sites may change",
              CLI::Range(std::int64_t{0}, longest_distance));
    command
        .add_option_function<std::string>(
            "--mask", [&spec](const std::string& word) { spec.mask = word != "0"; },
            "1: leave out gains at annotated splice sites and losses elsewhere; 0: keep them. Default: 0; "
            "for Pangolin, 1")
        ->expected(0, 1)
        ->type_name("0|1")
        ->check(CLI::IsMember({"0", "1", ""}).description(""))
        ->default_str("");
    add_choice_option(command, "--mode", spec.mode, tasks::splice_mode_choices,
                      "spliceai: compute scores as the program spliceai does; exact: compute them without "
                      "that program's known faults");
    only_for(command, "splicing", {"--annotation", "--distance", "--mask", "--mode"});
    only_for(command, "chromatin", {"--labels", "--scorer"});
    only_for(command, "promoter", {"--tss"});
    only_for(command, "pretrained", {"--window"});
    only_for(command, "chromatin, promoter, pretrained", {"--reverse-complement", "--background"});
    only_for(command, "profiles", {"--component"});
}

/// A splice model is known by its annotation, which no other model reads.
void finish_variants(CLI::App& command, VariantSpec& spec) {
    spec.splicing = help_notes(command).task == "splicing" || !spec.annotation.empty();
    if (spec.splicing) {
        require_given(command, {"--annotation"});
        if (const auto wrong = option_of_other_task(command, "splicing"))
            throw ConfigError(*wrong + "; see 'bigbird-dna predict-splicing --help'");
        const bool stream = std::ranges::find(spec.outputs.paths, "-") != spec.outputs.paths.end();
        if (stream && !is_given(command, "--format")) spec.outputs.stream = outputs::Kind::variants;
        return;
    }
    for (const char* option : {"--distance", "--mask", "--mode"})
        if (is_given(command, option))
            throw ConfigError(std::string(option) + " is for splice models, which need --annotation");
}

}  // namespace

int run_splicing(const VariantSpec& spec) {
    if (spec.dry_run) {
        std::fputs(describe(splicing::forecast_splicing(spec)).c_str(), stdout);
        return 0;
    }
    if (spec.outputs.paths.empty()) throw ConfigError("--output is needed, or --dry-run");
    splicing::SpliceReport report;
    const double seconds = seconds_of([&] { report = splicing::predict_splicing(spec); });
    log_info("{}; {:.1f} s", describe(report), seconds);
    if (report.repeats > 0)
        log_warning(
            "inserted bases repeat those beside them in {}: a new site there may be the old one; see "
            "docs/splicing.md",
            counted(report.repeats, "record"));
    return 0;
}

void setup_build_background(Program& program, Runner<BackgroundSpec> run) {
    const auto [command, spec] = program.add<BackgroundSpec>(
        "build-background", "Variants",
        "Score variants among which predict-variants can rank effects.\nWrites, per label, the "
        "quantiles of the effects of the variants, and of the same alleles at random positions. Give the "
        "file to predict-variants as --background, or put it into the model's folder as background.h5.",
        "--model --reference --variants --tss --regions --output --count --device",
        {{"A background for the effects of a model, kept in its folder",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --variants "
          "../test_data/variants/1000g.chr22.vcf.gz --count 100 --output chromatin/run/model/background.h5"},
         {"The same for a pretrained model",
          "--model pretrained --reference ../test_data/genome/22.fa.gz --variants "
          "../test_data/variants/1000g.chr22.vcf.gz --count 100 --output background.h5"}},
        std::move(run));
    add_variant_options(command, spec, "VCF (plain, gzip, bgzip) or BCF, such as common variants");
    add_value(command, "-o,--output", "FILE", spec.output, "Background, HDF5")->required()->group("Output");
    add_force_option(command, spec.overwrite);
    add_value(command, "--regions", "PEAKS", spec.regions,
              "Profile models: peaks (BED or narrowPeak) whose predicted reads active_allele_quantile "
              "compares with");
    add_value(command, "--count", "N", spec.count,
              "Maximum number of variants and of peaks to score, drawn at random, and of alleles to place at "
              "random positions",
              CLI::Range(std::int64_t{1}, std::int64_t{1'000'000}));
    add_compute_options(command, spec);
}

void setup_predict_variants(Program& program, Runner<VariantSpec> run) {
    const auto [command, spec] = program.add<VariantSpec>(
        "predict-variants", "Variants",
        "Score the effects of variants; for splicing see predict-splicing.\nA trained model gives the "
        "difference between its scores of the two alleles; a pretrained model gives the likelihood of each "
        "allele. Writes one row per alternative allele, in order. top_label is the label that changes most, "
        "top_effect is its change, and top_p is the share of shuffled variants that change any label as "
        "much.",
        "--model --reference --variants --tss --annotation --distance --mask --mode --labels --write "
        "--scorer --background --output --shard --dry-run --device",
        {{"The same VCF with effects on CTCF labels in INFO, for bcftools view -i 'BIGBIRD_MAX>1'",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --variants "
          "../test_data/variants/1000g.chr22.vcf.gz --labels '*CTCF*' --output effects.vcf.gz"},
         {"How likely a pretrained model finds each allele",
          "--model pretrained --reference ../test_data/genome/22.fa.gz --variants "
          "../test_data/variants/1000g.chr22.vcf.gz --output likelihoods.tsv.gz"}},
        std::move(run), finish_variants);
    add_variant_options(command, spec, "VCF (plain, gzip, bgzip) or BCF, or '-' for standard input");
    add_labels_option(command, spec.labels);
    add_value(
        command, "--write", "LIST", spec.quantities,
        "Columns per label in tables: ref, alt, difference (alt - ref), log_odds (for coverage, the log fold "
        "change; for numbers, alt - ref); with --background also quantile and p; for profile models also "
        "log2_fold_change, jsd, jsd_p, active_allele_quantile; default: all. Splice models: status");
    add_value(command, "--background", "H5", spec.background,
              "File of build-background, whose effects give quantiles and p-values; default: background.h5 "
              "in the model's folder, if any");
    add_score_outputs(command, spec.outputs);
    add_shard_option(command, spec.outputs.shard, "rows");
    add_choice_option(
        command, "--format", spec.outputs.stream, outputs::stream_choices,
        "What --output - writes: a row per allele, or the records with effects in INFO; default: "
        "table, splice models: vcf")
        ->default_str("")
        ->group("Output");
    command.add_flag("--dry-run", spec.dry_run,
                     "Only print the expected time and memory, estimated from some variants");
    add_splice_options(command, spec);
    add_compute_options(command, spec);
    add_alias(command, "splicing",
              "Score the effects of variants on splicing, as SpliceAI does.\nWrites the records with delta "
              "scores in INFO SpliceAI, in order, or a row per allele and gene.",
              {{"The same VCF with INFO SpliceAI, by the files of spliceai's Python package",
                "--model spliceai/models --reference ../test_data/genome/22.fa.gz --annotation "
                "spliceai/annotations/grch37.txt --variants ../test_data/variants/1000g.chr22.vcf.gz "
                "--output spliced.vcf.gz"},
               {"The same without the program's known faults, by a GTF",
                "--model spliceai/models --reference ../test_data/genome/22.fa.gz --annotation "
                "gencode.v19.annotation.gtf.gz --variants ../test_data/variants/1000g.chr22.vcf.gz --mode "
                "exact --output exact.vcf.gz"}});
}

}  // namespace bigbird::cli
