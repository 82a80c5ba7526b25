// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"

#include <utility>

namespace bigbird::cli {

using tasks::PredictTokensSpec;

void setup_predict_tokens(Program& program, Runner<PredictTokensSpec> run) {
    const auto [command, spec] = program.add<PredictTokensSpec>(
        "predict-tokens", task_group,
        "Predict the probability of each label for every base of BED rows.\nWrites one row per run of bases "
        "with equal scores, in order.",
        "--model --reference --regions --labels --output --force --device",
        {{"Probabilities of each label, one row per run of bases with equal scores",
          "--model tokens-run --reference ../test_data/genome/22.fa.gz --regions test.bed --output "
          "bases.tsv.gz"},
         {"A bigWig for each label, the mean of both strands",
          "--model tokens-run --reference ../test_data/genome/22.fa.gz --regions test.bed "
          "--reverse-complement average --output 'tracks/{label}.bw'"}},
        std::move(run));
    add_model_option(command, spec.model);
    add_reference_option(command, spec.references);
    add_value(command, "--regions", "BED", spec.regions, "BED to score, or '-' for standard input")
        ->required();
    add_choice_option(
        command, "--reverse-complement", spec.strands, tasks::strand_choices,
        "Score the given strand (none), the mean of both strands, or only the reverse complement");
    command.add_flag("--skip-invalid", spec.skip_invalid, marks_invalid);
    command.add_flag("--each-base", spec.each_base, "Write a row per base")->group("Output");
    add_labels_option(command, spec.labels);
    add_score_outputs(command, spec.outputs)->required();
    add_compute_options(command, spec);
}

}  // namespace bigbird::cli
