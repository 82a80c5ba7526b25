// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/training_options.hpp"

#include "bigbird/rows/window.hpp"

#include <utility>

namespace bigbird::cli {

using tasks::FinetuneTokensSpec;

namespace {

void add_label_options(CLI::App& command, FinetuneTokensSpec& spec) {
    add_value(command, "--annotations,--labels", "BED", spec.labels,
              "BED with a label in column 4 for the bases of each row, such as exon, donor or "
              "acceptor; rows of different labels must not overlap")
        ->required();
    add_reference_option(command, spec.references);
    add_value(command, "--include", "REGION", spec.include,
              "Contigs, regions (22:17000001-18000000) and BED files to train on; default: from the "
              "first to the last labeled base of each contig");
    add_value(command, "-m,--model", "DIR", spec.pretrained,
              "Pretrained model to start from: a run of pretrain, a checkpoint, or a model folder "
              "(Hugging Face big_bird or longformer with a tokenizer.model or tokenizer.json)")
        ->required();
}

void add_window_options(CLI::App& command, FinetuneTokensSpec& spec) {
    const HelpGroup in_group(command, "Windows");
    add_value(command, "--window", "BP", spec.window, "Bases that the network reads at once",
              CLI::Range(std::int64_t{0}, rows::longest_window))
        ->default_str("as many as --model can read");
    add_choice_option(
        command, "--label-weights", spec.label_weights, tasks::label_weight_choices,
        "Loss weight per base. balanced: inverse label frequency, at most 100; turns calibration off, "
        "which would undo the weights");
    add_choice_option(command, "--strand-augmentation", spec.both_strands, strand_augmentations,
                      "reverse-complement: draw each window's strand at random");
}

void choose_calibration(CLI::App& command, FinetuneTokensSpec& spec) {
    // Calibration would undo the weights: a rare label would no longer be the most probable one where its
    // weight made it so.
    const bool balanced = spec.label_weights == tasks::LabelWeights::balanced;
    if (balanced && !is_given(command, "--calibration")) spec.calibrates = false;
}

}  // namespace

void setup_finetune_tokens(Program& program, Runner<FinetuneTokensSpec> run) {
    const auto [command, spec] = program.add<FinetuneTokensSpec>(
        "finetune-tokens", task_group,
        "Fine-tune a pretrained model to label each base.\nLearns from the rows of a BED file. A token's "
        "target is the share of each label among its bases; a base gets its token's probabilities.",
        "--annotations --reference --model --include --validation --test --output --resume --epochs "
        "--batch-size --device",
        {{"Repeats and bound bases, labeled base by base",
          "--annotations ../test_data/tokens/labels.bed.gz --reference ../test_data/genome/22.fa.gz --model "
          "pretrained --validation 22:20000001-21000000 --test 22:21000001-22000000 --steps 400 --schedule "
          "cosine --strand-augmentation reverse-complement --output tokens-run"},
         {"Only one megabase, with the same total weight for each label",
          "--annotations ../test_data/tokens/labels.bed.gz --reference ../test_data/genome/22.fa.gz --model "
          "pretrained --include 22:17000001-18000000 --label-weights balanced --steps 50 --output "
          "tokens-small"}},
        std::move(run), choose_calibration);
    add_label_options(command, spec);
    add_hold_out_options(command, spec.validation, spec.test, "their bases are not used for training");
    add_finetune_run_options(command, spec);
    option_of(command, "--learning-rate")
        ->description("Peak learning rate")
        ->default_str("0.128 over the hidden size, 1e-3 for tiny");
    add_window_options(command, spec);
    {
        const HelpGroup in_group(command, "Network");
        add_random_weights_option(command, spec);
        add_encoder_options(command, spec);
    }
    add_validation_options(command, spec, "--validation");
    add_place_options(command, spec);
}

}  // namespace bigbird::cli
