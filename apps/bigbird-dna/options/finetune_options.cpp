// SPDX-License-Identifier: Apache-2.0
#include "options/finetune_options.hpp"

#include "options/option_groups.hpp"
#include "options/training_options.hpp"

namespace bigbird::cli {

using task_models::FinetuneSpec;

void add_random_weights_option(CLI::App& command, FinetuneSpec& spec) {
    command.add_flag(
        "--random-weights", spec.random_weights,
        "Use only the architecture and tokenizer of --model, with random weights, to measure what "
        "pretraining brings");
}

void add_encoder_options(CLI::App& command, FinetuneSpec& spec) {
    add_value(command, "--dropout", "RATE", spec.dropout,
              "Share of hidden values dropped in training; default: the pretrained model's",
              CLI::Range(0.0, 0.99));
    add_choice_option(
        command, "--dtype", spec.dtype, {"auto", "fp32", "bf16"},
        "Number format of the encoder; auto: fp32 on a CPU and for narrow bin models, else bf16");
    add_attention_option(command, spec.attention);
}

void add_length_options(CLI::App& command, FinetuneSpec& spec) {
    add_optimization_options(command, spec.batch_size, spec.learning_rate, spec.optimizer,
                             "Number of steps, instead of --epochs", "Steps of the linear warm-up");
    option_of(command, "--steps")->default_str("from --epochs");
    option_of(command, "--warmup-steps")->default_str("a tenth of all, at most 10000");
    add_value(command, "--epochs", "N", spec.epochs, "Maximum number of epochs; --patience may stop earlier",
              CLI::PositiveNumber)
        ->group("Optimization");
}

void add_validation_options(CLI::App& command, FinetuneSpec& spec, const std::string& held_out) {
    const HelpGroup in_group(command, "Validation");
    add_value(
        command, "--evaluate-every", "N", spec.evaluate_every,
        "Steps between evaluations on " + held_out + " (0 means only at the end); the best model is kept",
        CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40))
        ->default_str("a tenth of the run");
    add_value(command, "--patience", "N", spec.patience,
              "Stop after N evaluations without improvement (0 means never)", CLI::NonNegativeNumber)
        ->default_str("3; with --steps: 0");
    add_choice_option(command, "--calibration", spec.calibrates, calibrations,
                      "validation: fit a temperature and a bias per label on " + held_out +
                          ", so that scores are probabilities (calibration.json in the model)");
}

void add_place_options(CLI::App& command, FinetuneSpec& spec) {
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
    add_value(command, "--processes", "N", spec.processes,
              "Number of processes on this machine, one per GPU or sharing the CPU's threads; changes "
              "results only by rounding",
              CLI::PositiveNumber);
    add_batch_tokens_option(command, spec.batch_tokens);
}

}  // namespace bigbird::cli
