// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/finetune/finetune_loop.hpp"

#include "bigbird/core/formats/checksum.hpp"

namespace bigbird::task_models {

namespace {

constexpr std::int64_t evaluations_a_run = 10;

std::int64_t steps_between_evaluations(std::int64_t given, std::int64_t steps) {
    if (given > 0) return given;
    return given == 0 ? steps : (steps + evaluations_a_run - 1) / evaluations_a_run;
}

}  // namespace

training::LoopSpec finetune_loop(const FinetuneSpec& spec, const training::LearningRateSpec& rate,
                                 const std::optional<std::string>& metric) {
    training::LoopSpec loop;
    loop.run = spec.run;
    loop.learning_rate = rate;
    loop.optimizer = spec.optimizer;
    if (metric) {
        loop.evaluate_every = steps_between_evaluations(spec.evaluate_every, rate.total_steps);
        loop.selection = training::Selection{
            .metric = *metric, .higher_is_better = *metric != "eval_loss", .patience = spec.patience};
    }
    loop.free_options = spec.run.settings();
    loop.free_options["--attention"] = spec.attention;
    return loop;
}

Json optimization_options(const FinetuneSpec& spec, const training::LoopSpec& loop) {
    return {{"--steps", loop.learning_rate.total_steps},
            {"--batch-size", spec.batch_size},
            {"--learning-rate", loop.learning_rate.peak},
            {"--warmup-steps", loop.learning_rate.warmup_steps},
            {"--schedule", to_string(loop.learning_rate.decay)},
            {"--betas", {loop.optimizer.beta1, loop.optimizer.beta2}},
            {"--epsilon", loop.optimizer.epsilon},
            {"--weight-decay", loop.optimizer.weight_decay},
            {"--clip-norm", loop.optimizer.clip_norm}};
}

std::string examples_checksum(const FinetuneSpec& spec) {
    return "sha256:" + sha256_of_file(spec.examples / "manifest.json");
}

Json positive_weight_json(const FinetuneSpec& spec) {
    return spec.positive_weight ? Json(*spec.positive_weight) : Json("balanced");
}

std::string strand_augmentation(const FinetuneSpec& spec) {
    return spec.both_strands ? "reverse-complement" : "none";
}

}  // namespace bigbird::task_models
