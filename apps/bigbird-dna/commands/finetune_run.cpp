// SPDX-License-Identifier: Apache-2.0
#include "commands/commands.hpp"
#include "options/ranks_option.hpp"
#include "support/launch.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/task_models/train/finetune.hpp"

namespace bigbird::cli {

namespace {

std::string which_model(const task_models::FinetuneSpec& spec, const training::LoopResult& result) {
    if (result.best_step) return "the best on validation, of step " + std::to_string(*result.best_step);
    if (spec.is_linear()) return "solved at once";
    if (spec.is_sequence()) return fmt::format("the mean of {} networks", spec.sequence.members);
    return "of the last step";
}

}  // namespace

void report_finetuned(const task_models::FinetuneSpec& spec, const training::LoopResult& result) {
    if (result.finished_before) {
        log_info("{}: this run is finished already", result.model.string());
        return;
    }
    log_info("{}: the model, {}", result.model.string(), which_model(spec, result));
    if (const auto advice = task_models::still_improving(spec, result)) log_info("{}", *advice);
}

int run(const task_models::FinetuneSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    report_finetuned(spec, task_models::finetune(spec, rank_of_this_process(spec.processes)));
    return 0;
}

}  // namespace bigbird::cli
