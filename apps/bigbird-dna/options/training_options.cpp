// SPDX-License-Identifier: Apache-2.0
#include "options/training_options.hpp"

#include "options/option_groups.hpp"

namespace bigbird::cli {

void add_run_options(CLI::App& command, RunOptions& options) {
    const char* group = "Run";
    command
        .add_option("--output", options.output, "Run folder: metrics, checkpoints and, at the end, model/")
        ->required()
        ->type_name("DIR")
        ->group(group);
    command
        .add_option("--resume", options.resume,
                    "auto (from the newest checkpoint, if any), never, or a checkpoint")
        ->type_name("auto|never|PATH")
        ->group(group);
    command.add_flag("--force", options.force, "With --resume never: discard the run that is there")
        ->group(group);
    command.add_option("--checkpoint-every", options.checkpoint_every, "Steps between checkpoints")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
    command.add_option("--keep", options.keep, "Newest checkpoints that are kept, besides the best")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
    command.add_option("--keep-every", options.keep_every, "Keep those of every N steps, too; 0: none")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
    command
        .add_option("--max-hours", options.max_hours,
                    "Stop with a checkpoint and exit code 75 after this long; 0: no limit")
        ->check(CLI::NonNegativeNumber)
        ->type_name("HOURS")
        ->group(group);
}

void add_optimization_options(CLI::App& command, OptimizationOptions& options, const std::string& steps_text,
                              const std::string& warmup_text) {
    const char* group = "Optimization";
    command.add_option("--steps", options.steps, steps_text)
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
    command.add_option("--batch-size", options.batch_size, "Sequences a step")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
    command.add_option("--learning-rate", options.learning_rate, "Peak of the learning rate (AdamW)")
        ->check(CLI::PositiveNumber)
        ->type_name("RATE")
        ->group(group);
    command.add_option("--warmup-steps", options.warmup_steps, warmup_text)
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40))
        ->type_name("N")
        ->group(group);
    add_choice_option(command, "--schedule", options.decay, {"constant", "linear", "cosine"},
                      "Of the learning rate after the warm-up")
        ->group(group);
    command.add_option("--weight-decay", options.weight_decay, "Of matrices and embeddings")
        ->check(CLI::NonNegativeNumber)
        ->type_name("RATE")
        ->group(group);
    command.add_option("--clip-norm", options.clip_norm, "Greatest norm of the gradient; 0: no clipping")
        ->check(CLI::NonNegativeNumber)
        ->type_name("NORM")
        ->group(group);
    command.add_option("--betas", options.betas, "AdamW's decays of the two moments a step")
        ->expected(2)
        ->check(CLI::Range(0.0, 0.999999))
        ->type_name("B1 B2")
        ->group(group);
}

}  // namespace bigbird::cli
