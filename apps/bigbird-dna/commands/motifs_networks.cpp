// SPDX-License-Identifier: Apache-2.0
// motifs-export and motifs-marginalize: the motif commands that need a network.
#include "commands/commands.hpp"

namespace bigbird::cli {

using task_models::ExportMotifsSpec;
using task_models::MarginalizeSpec;

namespace {

/// Adds --output and --force, which are stored directly in a spec.
template <typename Spec>
void add_outputs(CLI::App& command, Spec& spec, const std::string& what) {
    add_value(command, "-o,--output", "PATH", spec.output, what)
        ->required(spec.output.empty())
        ->group("Output");
    add_force_option(command, spec.overwrite);
}

}  // namespace

void setup_motifs_export(Program& program, Runner<ExportMotifsSpec> run) {
    const auto [command, spec] = program.add<ExportMotifsSpec>(
        "motifs-export", "Motifs",
        "Write the filters of a model's first convolution as motifs, each with the label that it feeds or "
        "correlates with most.\nA filter's motif is made from its sites: positions where its activation "
        "exceeds half of its maximum over the sequence. The motifs that filters were initialized with come "
        "first, if the run folder has them.",
        "",
        {{"The filters of a model, and the motifs that they were initialized with",
          "--model chromatin/run --output filters.meme"},
         {"The same from sites in a genome",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --output filters22.meme"}},
        std::move(run));
    add_model_option(command, spec.model);
    add_reference_option(command, spec.references, false)
        ->description("FASTA of sequence to search for sites; default: 1,048,576 random bases");
    add_outputs(command, spec, "Motifs with their numbers of sites");
    add_device_option(command, spec.device);
}

void setup_motifs_marginalize(Program& program, Runner<MarginalizeSpec> run) {
    const auto [command, spec] = program.add<MarginalizeSpec>(
        "motifs-marginalize", "Motifs",
        "Measure how inserting a motif into background sequences changes the score of each label.\nThe "
        "motif's most likely letters replace the letters in the middle of the background. A bin model scores "
        "the bin around the middle. Effects are differences of log odds or, for models of numbers, "
        "differences of numbers.",
        "",
        {{"Effects of known motifs on each label, in 100 shuffled backgrounds",
          "--model chromatin/run --motifs chromatin/run/motifs.meme --backgrounds shuffled --reference "
          "../test_data/genome/22.fa.gz --output effects-of-motifs.tsv"},
         {"The same in the middles of the rows of a BED",
          "--model chromatin/run --motifs chromatin/run/motifs.meme --backgrounds test.bed --reference "
          "../test_data/genome/22.fa.gz --output effects-there.tsv"}},
        std::move(run));
    add_model_option(command, spec.model);
    add_value(command, "--motifs", "FILE", spec.motifs, "Motifs in MEME's minimal format or JASPAR's")
        ->required();
    add_value(command, "--backgrounds", "BED|shuffled", spec.backgrounds,
              "BED rows that get the motif in their middles, or 'shuffled': 100 dinucleotide-shuffled "
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
                "Table: motif, name, label, effect (mean over backgrounds), se (standard error), "
                "backgrounds; with --spacing also interaction: the effect of both minus that of each");
    add_device_option(command, spec.device);
}

}  // namespace bigbird::cli
