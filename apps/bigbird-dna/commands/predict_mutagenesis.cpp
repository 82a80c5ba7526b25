// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

namespace bigbird::cli {

using tasks::MutagenesisSpec;

void setup_predict_mutagenesis(Program& program, Runner<MutagenesisSpec> run) {
    const auto [command, spec] = program.add<MutagenesisSpec>(
        "predict-mutagenesis", "Explanations of a model",
        "Score every substitution of every base of BED rows or sequences.\nWrites one row per base and "
        "label, with the effects of A, C, G and T. Tracks contain each base's largest effect. With --delete "
        "or --shuffle, writes one row per stretch, with a column per label; tracks contain the mean over "
        "stretches. Bin models recompute only what a substitution changes; other models need a forward pass "
        "per substitution.",
        "--model --reference --regions --sequences --labels --score --delete --shuffle --write --output "
        "--device",
        {{"Effects of every substitution on the CTCF labels of a region",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions sites.bed --labels "
          "'*CTCF*' --output effects.tsv.gz"},
         {"A bigWig for each label: each base's largest effect on its own bin",
          "--model chromatin/run --reference ../test_data/genome/22.fa.gz --regions sites.bed --score "
          "own-bin --output 'effects/{label}.bw'"}},
        std::move(run));
    add_letter_inputs(command, spec,
                      "Bin, chromatin, promoter or sequence model, or file of a published model", "changed");
    add_choice_option(command, "--score", spec.score, tasks::mutagenesis_score_choices,
                      "Bin models: score whose change is written. region: the mean of the bins that the "
                      "region overlaps; own-bin: the bin that contains the base");
    auto* const deleted = add_value(command, "--delete", "BP", spec.deleted,
                                    "Delete each stretch of this many bases instead of substituting bases",
                                    CLI::Range(std::int64_t{1}, std::int64_t{1000}));
    add_value(command, "--shuffle", "BP", spec.shuffled,
              "Shuffle each stretch of this many bases, keeping dinucleotides",
              CLI::Range(std::int64_t{2}, std::int64_t{1000}))
        ->excludes(deleted);
    add_choice_option(command, "--write", spec.quantity, tasks::effect_choices,
                      "log_odds: write effects as differences of log odds (for coverage, of logarithms); "
                      "difference: as differences of scores");
    add_letter_outputs(command, spec, "Effects");
    command.add_flag("--skip-invalid", spec.skip_invalid,
                     "Skip rows that are not on the reference, instead of stopping with an error");
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
}

}  // namespace bigbird::cli
