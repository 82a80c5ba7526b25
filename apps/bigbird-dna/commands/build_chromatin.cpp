// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/build/chromatin.hpp"
#include "bigbird/examples/build/import_chromatin.hpp"
#include "bigbird/rows/window.hpp"

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace bigbird::cli {

struct BuildChromatinOptions {
    examples::ChromatinOptions of_bins;  ///< an import uses some of them
    examples::ImportOptions imported;
    std::string bins = "all";
    std::vector<std::string> mats;
    OutputOptions output;
};

namespace {

/// "train=FILE", "validation=FILE" or "test=FILE".
std::pair<examples::Split, std::filesystem::path> parse_mat(const std::string& text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos)
        throw ConfigError("--mat takes SPLIT=FILE, such as train=train.mat, not '" + text + "'");
    return {examples::parse_split(text.substr(0, equals)), text.substr(equals + 1)};
}

void add_import_options(CLI::App& command, BuildChromatinOptions& options, CLI::Option* peaks) {
    const HelpGroup in_group(command, "Import");
    add_value(command, "--table", "TSV", options.imported.table,
              "Instead of --peaks: a table of labeled bins, with the header '#chrom start end LABEL ...' and "
              "0 or 1 per label")
        ->excludes(peaks);
    CLI::Option* mat =
        add_value(command, "--mat", "SPLIT=FILE", options.mats,
                  "Instead of --peaks: DeepSEA's files, train=train.mat validation=valid.mat test=test.mat")
            ->excludes(peaks);
    add_value(command, "--coordinates", "BED", options.imported.coordinates,
              "Coordinates of --mat's bins (allTFs.pos.bed), to cut windows of --window bases from "
              "--reference, instead of using the 1,000 bases in the .mat files")
        ->needs(mat);
}

void run_import(const BuildChromatinOptions& options, const std::filesystem::path& folder) {
    examples::ImportOptions spec = options.imported;
    for (const std::string& text : options.mats)
        spec.mats.push_back(parse_mat(text));
    spec.references = options.of_bins.references;
    spec.window = options.of_bins.window;
    spec.validation = options.of_bins.validation;
    spec.test = options.of_bins.test;
    examples::import_chromatin(spec, folder);
}

/// Takes --bins apart. --negatives implies --bins any.
void choose_bins(CLI::App& command, BuildChromatinOptions& options) {
    std::optional<examples::Negatives>& negatives = options.of_bins.negatives;
    if (negatives && is_given(command, "--bins") && options.bins == "all")
        throw CLI::ExcludesError("--negatives", "--bins all");
    if (options.bins == "any" && !negatives) negatives.emplace();
}

int run_build_chromatin(const BuildChromatinOptions& options) {
    options.output.make_folder([&](const std::filesystem::path& folder) {
        if (options.of_bins.peaks.empty()) return run_import(options, folder);
        examples::build_chromatin(options.of_bins, folder);
    });
    return 0;
}

}  // namespace

void setup_build_chromatin(Program& program) {
    const auto [command, options] = program.add<BuildChromatinOptions>(
        "build-chromatin", "Peaks, coverage or sequences",
        "Make labeled bins of the genome from peaks, one label per file",
        "--peaks --table --mat --reference --validation --test --output",
        {{"Every bin of chromosome 22 with its labels, two stretches held out",
          "--peaks ../test_data/chromatin/peaks.tsv --reference ../test_data/genome/22.fa.gz --window 1000 "
          "--validation 22:20000001-20500000 --test 22:20500001-22000000 --output my-bins"},
         {"Bins with a CTCF peak of either cell line, and as many without one",
          "--peaks ../test_data/chromatin/A549.CTCF.chr22.narrowPeak.gz "
          "../test_data/chromatin/MCF-7.CTCF.chr22.narrowPeak.gz --reference ../test_data/genome/22.fa.gz "
          "--negatives 1 --output ctcf-bins"}},
        run_build_chromatin, choose_bins);
    examples::ChromatinOptions& of_bins = options.of_bins;
    CLI::Option* peaks =
        add_value(command, "--peaks", "SHEET|BED", of_bins.peaks,
                  "Peaks: a sheet with the columns name, group and path, or BED or narrowPeak files");
    add_import_options(command, options, peaks);
    add_reference_option(command, of_bins.references, false);
    add_value(command, "--window", "BP", of_bins.window,
              "Size of the sequence window around each bin, in bases",
              CLI::Range(std::int64_t{1}, rows::longest_window));
    add_value(command, "--bin", "BP", of_bins.bin,
              "Bin size; a bin has a label if the label's peaks cover more than half of it",
              CLI::PositiveNumber)
        ->needs(peaks);
    add_choice_option(command, "--bins", options.bins, {"all", "any"},
                      "Bins to keep as rows: all, or only those with a label")
        ->needs(peaks);
    add_negatives_option(command, of_bins.negatives,
                         "Keep only bins with a label, and for each of these RATIO random bins without a "
                         "label. gc:RATIO: take bins outside peaks whose windows have the same GC content")
        ->needs(peaks);
    add_seed_option(command, of_bins.seed);
    for (CLI::Option* option : add_bin_region_options(command, of_bins.include, of_bins.exclude))
        option->needs(peaks);
    add_hold_out_options(command, of_bins.validation, of_bins.test,
                         "bins that overlap this sequence are held out");
    command.add_flag("--skip-invalid", of_bins.skip_invalid, skips_mismatches);
    add_own_threads_option(command, of_bins.threads);
    add_output_options(command, options.output, "Example folder to write");
}

}  // namespace bigbird::cli
