// SPDX-License-Identifier: Apache-2.0
// Runners of pretrain, evaluate-mlm, finetune-* and train in bigbird-dna-tensors.
#include "commands/commands.hpp"
#include "support/launch.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"
#include "bigbird/genome/text/text_output.hpp"
#include "bigbird/pretraining/mlm_evaluation.hpp"
#include "bigbird/pretraining/pretrain.hpp"
#include "bigbird/task_models/pipeline/train.hpp"
#include "bigbird/task_models/train/finetune.hpp"
#include "bigbird/training/ranks/rank_spec.hpp"

#include <cstdio>
#include <memory>
#include <string>
#include <vector>

namespace bigbird::cli {

namespace {

/// Whether this process must start the others instead of training.
bool launches_processes(int processes) {
    return processes > 1 && training::ranks_from_environment().size == 1;
}

/// This process's rank. Silences the log of all ranks except the first. Throws ConfigError if --processes
/// contradicts the environment.
training::RankSpec rank_of_this_process(int processes) {
    training::RankSpec rank = training::ranks_from_environment();
    if (processes > 1 && processes != rank.size) {
        throw ConfigError("--processes " + std::to_string(processes) +
                          " contradicts the environment, in which this is one of " +
                          std::to_string(rank.size) + " processes; leave out --processes");
    }
    if (!rank.is_first()) set_up_log(Verbosity::quiet, "process " + std::to_string(rank.rank) + ": ");
    return rank;
}

void print_lines(const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        std::puts(line.c_str());
}

std::string which_model(const task_models::FinetuneSpec& spec, const training::LoopResult& result) {
    if (result.best_step) return "the best on validation, of step " + std::to_string(*result.best_step);
    if (spec.is_linear()) return "solved at once";
    if (spec.is_sequence()) return fmt::format("the mean of {} networks", spec.sequence.members);
    return "of the last step";
}

/// Logs which model finetune-* kept, and whether longer training would probably improve it.
void report_finetuned(const task_models::FinetuneSpec& spec, const training::LoopResult& result) {
    if (result.finished_before) {
        log_info("{}: this run is finished already", result.model.string());
        return;
    }
    log_info("{}: the model, {}", result.model.string(), which_model(spec, result));
    if (const auto advice = task_models::still_improving(spec, result)) log_info("{}", *advice);
}

}  // namespace

int run(const pretraining::PretrainSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    const training::RankSpec rank = rank_of_this_process(spec.processes);
    if (!spec.dry_run)
        log_info("{}: the pretrained model", pretraining::pretrain(spec, rank).model.string());
    else if (rank.is_first())
        print_lines(pretraining::plan_lines(pretraining::plan_pretraining(spec, rank)));
    return 0;
}

int run(const EvaluateMlmOptions& options) {
    const Overwrite overwrite = options.output.overwrite();
    std::vector<std::unique_ptr<genome::TextOutput>> outputs;
    outputs.push_back(std::make_unique<genome::TextOutput>(options.output.output, overwrite));
    if (!options.token_scores.empty())
        outputs.push_back(std::make_unique<genome::TextOutput>(options.token_scores, overwrite));
    const Json report = pretraining::evaluate_mlm(
        options.spec, options.token_scores.empty() ? nullptr : outputs.back().get());
    outputs.front()->write(report.dump(2) + "\n");
    genome::commit_together(outputs);
    for (const std::string& line : pretraining::mlm_table(report))
        log_info("{}", line);
    return 0;
}

int run(const task_models::FinetuneSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    report_finetuned(spec, task_models::finetune(spec, rank_of_this_process(spec.processes)));
    return 0;
}

int run(const task_models::FinetuneTokensSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    report_finetuned(spec, task_models::finetune_tokens(spec, rank_of_this_process(spec.processes)));
    return 0;
}

int run(const task_models::TrainSpec& spec) {
    print_lines(spec.dry_run ? task_models::forecast_train(spec) : task_models::train(spec));
    return 0;
}

}  // namespace bigbird::cli
