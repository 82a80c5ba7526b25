// SPDX-License-Identifier: Apache-2.0
#include "commands/embed.hpp"

#include "options/option_groups.hpp"

namespace bigbird::cli {

void setup_embed(Program& program, Runner<EmbedOptions> run) {
    auto options = std::make_shared<EmbedOptions>();
    CLI::App& command = program.add<EmbedOptions>(
        "embed", "Tools", "Write the vectors that a model gives sequences: one a row, or one a token.",
        options, std::move(run));
    add_model_option(command, options->model);
    CLI::Option* reference = add_reference_option(command, options->references, false);
    CLI::Option* regions =
        command.add_option("--regions", options->regions, "BED rows to embed, or '-' for standard input")
            ->needs(reference)
            ->type_name("BED");
    reference->needs(regions);
    command
        .add_option("--sequences", options->sequences,
                    "Instead of --regions: a FASTA whose records are embedded")
        ->excludes(regions)
        ->type_name("FASTA");
    add_choice_option(command, "--pooling", options->pooling, {"mean", "cls", "token"},
                      "The mean over a row's tokens, the vector of [CLS], or a row a token");
    command
        .add_option("--layer", options->layer,
                    "0: the embeddings, 1 and on: after so many layers, -1: the last")
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1000}))
        ->type_name("N");
    command.add_option("--window", options->window, "Bases about a row's middle; 0: the row's own")
        ->check(CLI::NonNegativeNumber)
        ->type_name("BP");
    command.add_flag("--strand", options->strand, "Reverse-complement rows on the minus strand");
    command.add_flag("--skip-invalid", options->skip_invalid,
                     "Mark rows that do not lie on the reference and go on, instead of ending");
    add_score_outputs(command, options->outputs, options->force);
    add_device_option(command, options->device);
    add_threads_option(command, options->threads);
    add_batch_tokens_option(command, options->batch_tokens);
    add_computing_options(command, options->dtype, options->attention);
}

}  // namespace bigbird::cli
