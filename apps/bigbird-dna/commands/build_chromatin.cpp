// SPDX-License-Identifier: Apache-2.0
#include "commands/build_chromatin.hpp"

#include "support/help_notes.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/examples/build/chromatin.hpp"
#include "bigbird/examples/build/import_chromatin.hpp"
#include "bigbird/rows/window.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace bigbird::cli {

namespace {

std::optional<std::filesystem::path> if_given(const std::filesystem::path& path) {
    return path.empty() ? std::nullopt : std::optional(path);
}

/// "train=FILE", "validation=FILE" or "test=FILE".
std::pair<examples::Split, std::filesystem::path> parse_mat(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos) {
        throw ConfigError("--mat takes SPLIT=FILE, such as train=train.mat, not '" + text + "'");
    }
    return {examples::parse_split(text.substr(0, equals)), text.substr(equals + 1)};
}

void add_import_options(CLI::App& command, BuildChromatinOptions& options, CLI::Option* peaks) {
    const char* group = "Import";
    command
        .add_option("--table", options.table,
                    "Instead of --peaks: bins that are labelled already, a header '#chrom start end LABEL "
                    "...' and 0 or 1")
        ->excludes(peaks)
        ->type_name("TSV")
        ->group(group);
    CLI::Option* mat =
        command
            .add_option(
                "--mat", options.mats,
                "Instead of --peaks: DeepSEA's files, train=train.mat validation=valid.mat test=test.mat")
            ->excludes(peaks)
            ->type_name("SPLIT=FILE")
            ->group(group);
    command
        .add_option(
            "--coordinates", options.coordinates,
            "The bins of --mat (allTFs.pos.bed): windows of --window are cut from --reference; without it "
            "they are the files' own 1,000 bases")
        ->needs(mat)
        ->type_name("BED")
        ->group(group);
    command
        .add_option("--label-table", options.label_table,
                    "Groups and names of the labels of --table and --mat (labels.tsv: index, group, name); "
                    "default: the "
                    "table's, or DeepSEA's 919")
        ->excludes(peaks)
        ->type_name("TSV")
        ->group(group);
}

void run_import(const BuildChromatinOptions& options, const std::filesystem::path& folder) {
    examples::ImportOptions spec;
    spec.table = options.table;
    for (const std::string& text : options.mats) {
        spec.mats.push_back(parse_mat(text));
    }
    spec.coordinates = if_given(options.coordinates);
    spec.label_table = if_given(options.label_table);
    spec.references = options.references;
    spec.window = options.window;
    spec.validation = options.hold_outs.validation;
    spec.test = options.hold_outs.test;
    spec.max_n_fraction = options.max_n_fraction;
    examples::import_chromatin(spec, folder);
}

constexpr Examples examples{
    {{"Every bin of chromosome 22 with its labels, two stretches held out",
      "bigbird-dna build-chromatin --peaks ../test_data/chromatin/peaks.tsv --reference "
      "../test_data/genome/22.fa.gz --window 1000 --bins all --validation 22:20000001-20500000 --test "
      "22:20500001-22000000 --output my-bins"},
     {"Bins with a CTCF peak of either cell line, and as many without one",
      "bigbird-dna build-chromatin --peaks ../test_data/chromatin/A549.CTCF.chr22.narrowPeak.gz "
      "../test_data/chromatin/MCF-7.CTCF.chr22.narrowPeak.gz --reference ../test_data/genome/22.fa.gz "
      "--negatives 1 --output ctcf-bins"}}};

}  // namespace

void setup_build_chromatin(Program& program, Runner<BuildChromatinOptions> run) {
    auto options = std::make_shared<BuildChromatinOptions>();
    CLI::App& command = program.add("build-chromatin", "Chromatin",
                                    "Make labelled bins of the genome from peaks, a label for each peak file",
                                    options, std::move(run));
    CLI::Option* peaks =
        command
            .add_option("--peaks", options->peaks,
                        "A sheet with the columns name, group and path, or BED or narrowPeak files")
            ->type_name("SHEET|BED");
    add_import_options(command, *options, peaks);
    add_reference_option(command, options->references, false);
    command.add_option("--window", options->window, "Bases about a bin that the model reads")
        ->check(CLI::Range(std::int64_t{1}, rows::longest_window))
        ->type_name("BP");
    command
        .add_option("--bin", options->bin, "Bases of a bin; it has a label where peaks cover more than half")
        ->check(CLI::PositiveNumber)
        ->needs(peaks)
        ->type_name("BP");
    command.add_option("--bins", options->bins, "Bins with any label, or all")
        ->check(CLI::IsMember({"any", "all"}))
        ->needs(peaks)
        ->type_name("any|all");
    command
        .add_option("--bins-of-group", options->group,
                    "With --bins any: only labels of this group make a bin a row")
        ->needs(peaks)
        ->type_name("GROUP");
    command
        .add_option("--negatives", options->negatives,
                    "With --bins any: for each row so many bins without a label, drawn at random")
        ->check(CLI::NonNegativeNumber)
        ->needs(peaks)
        ->type_name("RATIO");
    add_seed_option(command, options->seed);
    command.add_option("--include", options->include, "Only bins that lie wholly inside these regions")
        ->needs(peaks)
        ->type_name("BED");
    command.add_option("--exclude", options->exclude, "No bins that touch these regions")
        ->needs(peaks)
        ->type_name("BED");
    command.add_option("--max-n-fraction", options->max_n_fraction, "Most of a window that may be N")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE");
    add_hold_out_options(command, options->hold_outs, "a bin that overlaps them counts as inside");
    add_threads_option(command, options->threads);
    add_output_options(command, options->output, "Folder of examples to make");
    add_examples(command, examples);
}

int run_build_chromatin(const BuildChromatinOptions& options) {
    PendingOutput folder(options.output.output, options.output.overwrite(), PendingOutput::Kind::folder);
    if (options.peaks.empty()) {
        run_import(options, folder.path());
        folder.commit();
        return 0;
    }
    examples::ChromatinOptions chromatin;
    chromatin.peaks = options.peaks;
    chromatin.references = options.references;
    chromatin.window = options.window;
    chromatin.bin = options.bin;
    chromatin.bins = examples::parse_bin_choice(options.bins);
    chromatin.group = options.group;
    chromatin.negatives = options.negatives;
    chromatin.seed = options.seed;
    chromatin.include = if_given(options.include);
    chromatin.exclude = if_given(options.exclude);
    chromatin.validation = options.hold_outs.validation;
    chromatin.test = options.hold_outs.test;
    chromatin.max_n_fraction = options.max_n_fraction;
    chromatin.threads = resolve_threads(options.threads);
    examples::build_chromatin(chromatin, folder.path());
    folder.commit();
    return 0;
}

}  // namespace bigbird::cli
