// SPDX-License-Identifier: Apache-2.0
#include "options/training_options.hpp"

#include "options/option_groups.hpp"
#include "support/help_formatter.hpp"

#include "bigbird/core/log.hpp"

#include <vector>

namespace bigbird::cli {

void add_run_options(CLI::App& command, std::filesystem::path& output, training::RunSpec& run) {
    const HelpGroup in_group(command, "Run");
    add_value(command, "-o,--output", "DIR", output,
              "Run folder: metrics, checkpoints and, at the end, model/")
        ->required();
    add_value(command, "--resume", "CHECKPOINT", run.resume,
              "Go back to this checkpoint or run; a finished run needs --force, too")
        ->default_str("the newest checkpoint, if any");
    command.add_flag(force_option, run.force);
    add_max_hours_option(command, run.max_hours);
}

CLI::Option* add_max_hours_option(CLI::App& command, double& hours) {
    return add_value(command, "--max-hours", "HOURS", hours,
                     "Stop with a checkpoint and exit code 75 after this time", CLI::NonNegativeNumber)
        ->default_str("no limit");
}

void add_optimization_options(CLI::App& command, std::int64_t& batch_size, training::LearningRateSpec& rate,
                              training::OptimizerSpec& optimizer, const std::string& steps_text) {
    const HelpGroup in_group(command, "Optimization");
    add_value(command, "--steps", "N", rate.total_steps, steps_text, CLI::NonNegativeNumber);
    add_value(command, "--batch-size", "N", batch_size, "Sequences per step", CLI::PositiveNumber);
    add_value(command, "--learning-rate", "RATE", rate.peak, "Peak learning rate", CLI::PositiveNumber);
    add_choice_option(command, "--schedule", rate.decay, training::decays,
                      "Learning-rate schedule after the warm-up");
    add_value(command, "--weight-decay", "RATE", optimizer.weight_decay,
              "Weight decay of matrices and embeddings", CLI::NonNegativeNumber);
}

using tasks::FinetuneSpec;

void add_random_weights_option(CLI::App& command, FinetuneSpec& spec) {
    command.add_flag("--random-weights", spec.random_weights,
                     "Use only the architecture and tokenizer of --model, with random weights, to measure "
                     "what pretraining brings");
}

void add_encoder_options(CLI::App& command, FinetuneSpec& spec) {
    add_value(command, "--dropout", "RATE", spec.dropout,
              "Share of hidden values dropped in training; default: the pretrained model's",
              CLI::Range(0.0, 0.99));
    add_value(command, "--lora", "RANK", spec.lora.rank,
              "Train only the head and low-rank adapters (LoRA) of this rank for the encoder's linear layers",
              CLI::Range(std::int64_t{1}, std::int64_t{1024}))
        ->default_str("train all weights");
    add_value(command, "--lora-alpha", "ALPHA", spec.lora.alpha,
              "Scale of the LoRA adapters: their output is multiplied by ALPHA / RANK", CLI::PositiveNumber)
        ->default_str("twice the rank");
    add_value(command, "--lora-dropout", "RATE", spec.lora.dropout,
              "Share of an adapter's input dropped in training", CLI::Range(0.0, 0.99));
    add_choice_option(
        command, "--dtype", spec.dtype, {"auto", "fp32", "bf16"},
        "Number format of the encoder; auto: fp32 on a CPU and for narrow bin models, else bf16");
}

void add_finetune_run_options(CLI::App& command, FinetuneSpec& spec) {
    add_seed_option(command, spec.seed);
    add_run_options(command, spec.output, spec.run);
    add_optimization_options(command, spec.batch_size, spec.learning_rate, spec.optimizer,
                             "Number of training steps, instead of --epochs");
    option_of(command, "--steps")->default_str("from --epochs");
    add_value(command, "--epochs", "N", spec.epochs, "Maximum number of epochs; --patience may stop earlier",
              CLI::PositiveNumber)
        ->group("Optimization")
        ->excludes(option_of(command, "--steps"));
}

void add_validation_options(CLI::App& command, FinetuneSpec& spec) {
    const HelpGroup in_group(command, "Validation");
    add_value(
        command, "--evaluate-every", "N", spec.evaluate_every,
        "Steps between evaluations on the validation rows (0 means only at the end); the best model is kept",
        CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40))
        ->default_str("a tenth of the run");
    add_value(command, "--patience", "N", spec.patience,
              "Stop after N evaluations without improvement (0 means never)", CLI::NonNegativeNumber)
        ->default_str("3; with --steps: 0");
    add_choice_option(command, "--calibration", spec.calibrates, calibrations,
                      "validation: fit a temperature and a bias per label on the validation rows, so that "
                      "scores are probabilities (calibration.json in the model)");
}

void add_place_options(CLI::App& command, FinetuneSpec& spec) {
    add_device_option(command, spec.device);
    add_threads_option(command, spec.threads);
    add_value(command, "--processes", "N", spec.processes,
              "Number of processes on this machine, one per GPU or sharing the CPU's threads; changes "
              "results only by rounding",
              CLI::PositiveNumber);
}

}  // namespace bigbird::cli
