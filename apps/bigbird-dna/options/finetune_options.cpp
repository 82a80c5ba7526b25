// SPDX-License-Identifier: Apache-2.0
#include "options/finetune_options.hpp"

#include "options/option_groups.hpp"

namespace bigbird::cli {

namespace {

void add_network_options(CLI::App& command, FinetuneOptions& options) {
    const char* group = "Network";
    add_choice_option(command, "--head", options.head, {"classification", "linear"},
                      "classification (two layers, as transformers') or linear (one layer, as the paper's)")
        ->group(group);
    add_choice_option(command, "--pooling", options.pooling, {"cls", "mean"},
                      "What the head sees: [CLS], or the mean over all tokens (unknown to transformers)")
        ->group(group);
    command.add_option("--dropout", options.dropout, "Instead of the pretrained model's")
        ->check(CLI::Range(0.0, 0.99))
        ->type_name("RATE")
        ->group(group);
    command.add_option("--positive-weight", options.positive_weight, "Of a 1 in the loss, against a 0")
        ->check(CLI::PositiveNumber)
        ->type_name("WEIGHT")
        ->group(group);
    add_choice_option(command, "--strand-augmentation", options.strand_augmentation,
                      {"none", "reverse-complement"},
                      "reverse-complement: each window on a strand drawn anew in each epoch")
        ->group(group);
}

void add_evaluation_options(CLI::App& command, FinetuneOptions& options) {
    const char* group = "Validation";
    command
        .add_option(
            "--evaluate-every", options.evaluate_every,
            "Steps between evaluations on the rows of validation; -1: ten a run, 0: at the end alone. "
            "The best model is kept")
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40))
        ->type_name("N")
        ->group(group);
    command
        .add_option("--patience", options.patience,
                    "Stop after this many evaluations without a better one; 0: never")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
}

}  // namespace

void add_finetune_options(CLI::App& command, FinetuneOptions& options) {
    command
        .add_option("--examples", options.examples,
                    "Labelled windows, a folder of build-promoters or build-chromatin")
        ->required()
        ->type_name("DIR");
    command
        .add_option("--model", options.model,
                    "Pretrained model to start from: a run of pretrain, a checkpoint, or a model folder "
                    "(Hugging Face big_bird with a tokenizer.model or tokenizer.json)")
        ->required()
        ->type_name("DIR");
    add_seed_option(command, options.seed);
    add_run_options(command, options.run);
    add_optimization_options(command, options.optimization, "Steps; 0: as many as --epochs are",
                             "Steps of the linear warm-up; -1: a tenth of all, at most 10000");
    command.add_option("--epochs", options.epochs, "Passes over the windows of train, where --steps is 0")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group("Optimization");
    add_network_options(command, options);
    add_evaluation_options(command, options);
    add_device_option(command, options.device);
    add_threads_option(command, options.threads);
    add_batch_tokens_option(command, options.batch_tokens);
}

}  // namespace bigbird::cli
