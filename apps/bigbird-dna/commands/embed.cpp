// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include "bigbird/rows/window.hpp"

namespace bigbird::cli {

using tasks::EmbedSpec;

void setup_embed(Program& program, Runner<EmbedSpec> run) {
    const auto [command, spec] = program.add<EmbedSpec>(
        "embed", "A genome without labels", "Write a model's embeddings of sequences, per row or per token.",
        "--model --reference --regions --sequences --pooling --output --device",
        {{"One vector per row: the mean over its tokens",
          "--model pretrained --reference ../test_data/genome/22.fa.gz --regions promoter/examples/test.bed "
          "--output vectors.npy"},
         {"One vector per token of a FASTA's records",
          "--model pretrained --sequences ../test_data/genome/multi.fa --pooling token --output tokens.h5"}},
        std::move(run));
    add_model_option(command, spec.model);
    CLI::Option* reference = add_reference_option(command, spec.references, false);
    CLI::Option* regions =
        add_regions_option(command, "--regions", spec.regions, "BED rows to embed, or '-' for standard input")
            ->needs(reference);
    reference->needs(regions);
    add_value(command, "--sequences", "FASTA", spec.sequences,
              "Instead of --regions: a FASTA whose records are embedded")
        ->excludes(regions);
    add_choice_option(command, "--pooling", spec.pooling, tasks::embed_pooling_choices,
                      "Vectors to write. mean: the mean over a row's tokens; mean-special: the same with "
                      "special tokens; cls: the vector of [CLS]; token: one vector per token");
    add_value(command, "--layer", "N", spec.layer, "Layer whose vectors are written; 0: the input embeddings",
              CLI::Range(std::int64_t{-1}, std::int64_t{1000}))
        ->default_str("the last");
    add_value(command, "--window", "BP", spec.window, "Number of bases to read around a row's middle",
              CLI::Range(std::int64_t{0}, rows::longest_window))
        ->default_str("the row's own");
    command.add_flag("--strand", spec.use_strand, "Reverse-complement rows on the minus strand");
    command.add_flag("--skip-invalid", spec.skip_invalid, marks_invalid);
    add_score_outputs(command, spec.outputs, "Vectors")->required();
    add_shard_option(command, spec.outputs.shard, "rows");
    add_compute_options(command, spec);
}

}  // namespace bigbird::cli
