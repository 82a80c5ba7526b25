// SPDX-License-Identifier: Apache-2.0
#include "options/training_options.hpp"

#include "options/option_groups.hpp"

#include "bigbird/core/log.hpp"

#include <vector>

namespace bigbird::cli {

void add_run_options(CLI::App& command, std::filesystem::path& output, training::RunSpec& run) {
    const char* group = "Run";
    command.add_option("-o,--output", output, "Run folder: metrics, checkpoints and, at the end, model/")
        ->required()
        ->type_name("DIR")
        ->group(group);
    command
        .add_option("--resume", run.resume,
                    "Resume from the newest checkpoint, if any (auto); never; or from the given checkpoint")
        ->type_name("auto|never|PATH")
        ->group(group);
    command.add_flag("-f,--force", run.force, "With --resume never: discard the existing run")->group(group);
    command.add_option("--checkpoint-every", run.checkpoint_every, "Steps between checkpoints")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
    command.add_option("--keep", run.keep, "Number of newest checkpoints to keep, besides the best")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
    command.add_option("--keep-every", run.keep_every, "Also keep the checkpoint of every Nth step")
        ->default_str("none")
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
    add_max_hours_option(command, run.max_hours)->group(group);
}

CLI::Option* add_max_hours_option(CLI::App& command, double& hours) {
    return command
        .add_option("--max-hours", hours, "Stop with a checkpoint and exit code 75 after this time")
        ->default_str("no limit")
        ->check(CLI::NonNegativeNumber)
        ->type_name("HOURS");
}

void add_optimization_options(CLI::App& command, std::int64_t& batch_size, training::LearningRateSpec& rate,
                              training::OptimizerSpec& optimizer, const std::string& steps_text,
                              const std::string& warmup_text) {
    const char* group = "Optimization";
    command.add_option("--steps", rate.total_steps, steps_text)
        ->check(CLI::NonNegativeNumber)
        ->type_name("N")
        ->group(group);
    command.add_option("--batch-size", batch_size, "Sequences per step")
        ->check(CLI::PositiveNumber)
        ->type_name("N")
        ->group(group);
    command.add_option("--learning-rate", rate.peak, "Peak learning rate")
        ->check(CLI::PositiveNumber)
        ->type_name("RATE")
        ->group(group);
    command.add_option("--warmup-steps", rate.warmup_steps, warmup_text)
        ->check(CLI::Range(std::int64_t{-1}, std::int64_t{1} << 40))
        ->type_name("N")
        ->group(group);
    add_choice_option(command, "--schedule", rate.decay, training::decays,
                      "Learning-rate schedule after the warm-up")
        ->group(group);
    command.add_option("--weight-decay", optimizer.weight_decay, "Weight decay of matrices and embeddings")
        ->check(CLI::NonNegativeNumber)
        ->type_name("RATE")
        ->group(group);
    command
        .add_option("--clip-norm", optimizer.clip_norm, "Maximum norm of the gradient (0 means no clipping)")
        ->check(CLI::NonNegativeNumber)
        ->type_name("NORM")
        ->group(group);
    const auto set_betas = [&optimizer](const std::vector<double>& betas) {
        optimizer.beta1 = betas.at(0);
        optimizer.beta2 = betas.at(1);
    };
    command
        .add_option_function<std::vector<double>>("--betas", set_betas,
                                                  "AdamW: decay of the two moments per step")
        ->default_str(fmt::format("[{},{}]", optimizer.beta1, optimizer.beta2))
        ->expected(2)
        ->check(CLI::Range(0.0, 0.999999))
        ->type_name("B1 B2")
        ->group(group);
    command.add_option("--epsilon", optimizer.epsilon, "AdamW: added to the denominator")
        ->check(CLI::PositiveNumber)
        ->type_name("EPSILON")
        ->group(group);
}

}  // namespace bigbird::cli
