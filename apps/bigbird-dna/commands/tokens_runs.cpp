// SPDX-License-Identifier: Apache-2.0
// What bigbird-dna-tensors runs for finetune-tokens and predict-tokens.
#include "commands/finetune_tokens.hpp"
#include "commands/predict_tokens.hpp"
#include "options/ranks_option.hpp"
#include "support/launch.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/task_models/tokens/finetune_tokens.hpp"
#include "bigbird/task_models/tokens/predict_tokens.hpp"

namespace bigbird::cli {

int run_finetune_tokens(const task_models::FinetuneTokensSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    const training::LoopResult result =
        task_models::finetune_tokens(spec, place_of_this_process(spec.processes));
    if (result.finished_before) {
        log_info("{}: this run is finished already", result.model.string());
        return 0;
    }
    log_info("{}: the model, {}", result.model.string(),
             result.best_step ? "the best on validation, of step " + std::to_string(*result.best_step)
                              : std::string("of the last step"));
    return 0;
}

int run_predict_tokens(const task_models::PredictTokensSpec& spec) {
    const task_models::PredictTokensReport report = task_models::predict_tokens(spec);
    log_info("{} of {} bases of {} regions scored in {:.1f} s, in {} rows", report.scored, report.bases,
             report.regions, report.seconds, report.rows);
    if (report.truncated > 0) {
        log_warning("{} windows have more tokens than the model has positions: only their middle was read",
                    report.truncated);
    }
    return 0;
}

}  // namespace bigbird::cli
