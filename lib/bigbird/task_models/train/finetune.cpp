// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/finetune.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parallel.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/task_models/train/run_plan.hpp"
#include "bigbird/task_models/train/train_task.hpp"

namespace bigbird::task_models {

training::LoopResult carry_out(const FinetuneSpec& spec, const training::RankSpec& rank, int threads,
                               RunPlan plan) {
    training::LoopSpec& loop = plan.loop;
    plan.info.training = plan.card.options = loop.fixed_options;
    plan.card.architecture = plan.info.architecture;
    loop.card = [&](const training::TrainedModel& model) {
        return model::to_text(task_card(plan.card, model));
    };
    if (const auto finished = training::finished_run(spec.output, loop)) return *finished;
    model::set_compute_threads(threads);
    if (plan.solve) return training::solve_run(loop, spec.output, [&] { return plan.solve(threads); });
    const at::Device device = model::open_device(training::device_of(rank, spec.device));
    loop.ranks = std::make_shared<training::Ranks>(rank, device);
    const Job job{device, parse_compute_options(spec.dtype, spec.attention, device), spec.batch_tokens,
                  threads};
    loop.compute = job.computing.type;
    const std::shared_ptr<TaskNetwork> network = plan.network(job);
    TrainTask task(network, plan.data(network, threads), plan.info, spec, plan.averaging, threads,
                   loop.ranks);
    if (rank.is_first()) task.data().say(*network, loop.learning_rate.total_steps, spec.batch_size);
    return training::run_training(task, loop, spec.output);
}

namespace {

/// Regression of numbers on k-mers treats each bin's window as a sequence.
bool is_ridge_of_numbers(const FinetuneSpec& spec) {
    return spec.architecture == "kmer-ridge" && spec.task == examples::Task::chromatin &&
           load_examples(spec)->target() == examples::TargetKind::numbers;
}

RunPlan plan_of(const FinetuneSpec& spec, int threads, bool speaks) {
    if (spec.task == examples::Task::sequences || is_ridge_of_numbers(spec))
        return plan_sequences(spec, speaks);
    return spec.is_bins() ? plan_bins(spec, threads, speaks) : plan_windows(spec, speaks);
}

}  // namespace

training::LoopResult finetune(const FinetuneSpec& spec, const training::RankSpec& rank) {
    spec.validate();
    if (rank.size > 1 && (spec.is_linear() || spec.is_sequence())) {
        throw ConfigError("--processes: " + spec.architecture + " is " +
                          (spec.is_linear() ? "solved" : "trained") + " by one process");
    }
    const int threads = rank.share_of(resolve_threads(spec.threads));
    return carry_out(spec, rank, threads, plan_of(spec, threads, rank.is_first()));
}

training::LoopResult finetune_tokens(const FinetuneTokensSpec& spec, const training::RankSpec& rank) {
    spec.validate();
    const int threads = rank.share_of(resolve_threads(spec.threads));
    return carry_out(spec, rank, threads, plan_bases(spec, threads, rank.is_first()));
}

}  // namespace bigbird::task_models
