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
    add_choice_option(
        command, "--reverse-complement", options.reverse_complement, {"none", "average", "only"},
        "Score windows as they come (none), the mean of both strands, or their reverse complement alone");
    command.add_flag("--skip-invalid", options.skip_invalid,
                     "Mark rows that do not lie on the reference and go on, instead of ending");
    add_score_outputs(command, options.outputs, options.force);
    add_device_option(command, options.device);
    add_threads_option(command, options.threads);
    add_batch_tokens_option(command, options.batch_tokens);
}

void add_chromatin_predict_options(CLI::App& command, PredictOptions& options) {
    command
        .add_option(
            "--labels", options.labels,
            "Labels to write: indices (0-124), groups, names or patterns (*CTCF*), separated by commas; "
            "default: all")
        ->type_name("SELECTION");
    add_choice_option(command, "--anchor", options.anchor, {"centre", "summit"},
                      "What of a row is the middle of its window: its centre, or narrowPeak's summit");
}

}  // namespace bigbird::cli
