// SPDX-License-Identifier: Apache-2.0
#include "commands/build_chromatin.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/tasks/chromatin.hpp"

#include <memory>
#include <optional>
#include <utility>

namespace bigbird::cli {

namespace {

std::optional<std::filesystem::path> if_given(const std::filesystem::path& path) {
    return path.empty() ? std::nullopt : std::optional(path);
}

}  // namespace

void setup_build_chromatin(Program& program, Runner<BuildChromatinOptions> run) {
    auto options = std::make_shared<BuildChromatinOptions>();
    CLI::App& command = program.add("build-chromatin", "Chromatin",
                                    "Make labelled bins of the genome from peaks, a label for each peak file",
                                    options, std::move(run));
    command
        .add_option("--peaks", options->peaks,
                    "A sheet with the columns name, group and path, or BED or narrowPeak files")
        ->required()
        ->type_name("SHEET|BED");
    add_reference_option(command, options->references);
    command.add_option("--window", options->window, "Bases about a bin that the model reads")
        ->check(CLI::PositiveNumber)
        ->type_name("BP");
    command
        .add_option("--bin", options->bin, "Bases of a bin; it has a label where peaks cover more than half")
        ->check(CLI::PositiveNumber)
        ->type_name("BP");
    command.add_option("--bins", options->bins, "Bins with any label, or all")
        ->check(CLI::IsMember({"any", "all"}))
        ->type_name("any|all");
    command.add_option("--include", options->include, "Only bins that lie wholly inside these regions")
        ->type_name("BED");
    command.add_option("--exclude", options->exclude, "No bins that touch these regions")->type_name("BED");
    command.add_option("--max-n-fraction", options->max_n_fraction, "Most of a window that may be N")
        ->check(CLI::Range(0.0, 1.0))
        ->type_name("SHARE");
    add_hold_out_options(command, options->hold_outs, "a bin that overlaps them counts as inside");
    add_threads_option(command, options->threads);
    add_output_options(command, options->output, "Folder of examples to make");
}

int run_build_chromatin(const BuildChromatinOptions& options) {
    tasks::ChromatinOptions chromatin;
    chromatin.peaks = options.peaks;
    chromatin.references = options.references;
    chromatin.window = options.window;
    chromatin.bin = options.bin;
    chromatin.bins = tasks::parse_bin_choice(options.bins);
    chromatin.include = if_given(options.include);
    chromatin.exclude = if_given(options.exclude);
    chromatin.validation = options.hold_outs.validation;
    chromatin.test = options.hold_outs.test;
    chromatin.max_n_fraction = options.max_n_fraction;
    chromatin.threads = resolve_threads(options.threads);
    PendingOutput folder(options.output.output, options.output.overwrite(), true);
    tasks::build_chromatin(chromatin, folder.path());
    folder.commit();
    return 0;
}

}  // namespace bigbird::cli
