// SPDX-License-Identifier: Apache-2.0
#include "options/predict_options.hpp"

#include "options/option_groups.hpp"

namespace bigbird::cli {

void add_predict_options(CLI::App& command, PredictOptions& options, const std::string& rows) {
    command
        .add_option("--model", options.models,
                    "Model folder or run of fine-tuning; given several times, the mean of the models' scores")
        ->required()
        ->type_name("DIR");
    CLI::Option* reference = add_reference_option(command, options.references, false);
    CLI::Option* regions =
        command
            .add_option("--regions", options.regions, "BED to be scored, or '-' for standard input; " + rows)
            ->needs(reference)
            ->type_name("BED");
    reference->needs(regions);
    CLI::Option* examples =
        command
            .add_option(
                "--examples", options.examples,
                "Instead of --regions: the windows of a folder of examples, made-up negatives included")
            ->excludes(regions)
            ->type_name("DIR");
    add_choice_option(command, "--split", options.split, {"train", "validation", "test", "all"},
                      "Of --examples")
        ->needs(examples);
    add_reverse_complement_option(command, options.reverse_complement);
    command.add_flag("--skip-invalid", options.skip_invalid,
                     "Mark rows that do not lie on the reference and go on, instead of ending");
    add_choice_option(command, "--pool", options.pool, {"none", "mean", "max"},
                      "A row a tile (none), or one a region with the mean or the largest score of its tiles")
        ->group("Tiles");
    add_min_score_option(command, options.min_score);
    add_score_outputs(command, options.outputs, options.force);
    add_device_option(command, options.device);
    add_threads_option(command, options.threads);
    add_batch_tokens_option(command, options.batch_tokens);
    add_computing_options(command, options.dtype, options.attention);
}

void add_chromatin_predict_options(CLI::App& command, PredictOptions& options) {
    add_labels_option(command, options.labels);
    command
        .add_option(
            "--track-labels", options.track_labels,
            "Labels that .bedgraph and .bw outputs are made of, chosen as --labels; default: the same")
        ->type_name("SELECTION")
        ->group("Output");
    command
        .add_option(
            "--tile", options.tile,
            "Cut regions into tiles of so many bases, such as the 200 of training; 0: score them whole")
        ->check(CLI::NonNegativeNumber)
        ->type_name("BP")
        ->group("Tiles");
    add_choice_option(command, "--anchor", options.anchor, {"centre", "summit"},
                      "What of a row is the middle of its window: its centre, or narrowPeak's summit");
}

void add_promoter_predict_options(CLI::App& command, PredictOptions& options) {
    command
        .add_option(
            "--scan", options.tile,
            "Scan regions for promoters: every so many bases a window about the tile's middle, on the "
            "region's strand or, where it has none, on both; 0: a region is a TSS")
        ->check(CLI::NonNegativeNumber)
        ->type_name("BP")
        ->group("Tiles");
}

}  // namespace bigbird::cli
