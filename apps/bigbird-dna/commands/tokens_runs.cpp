// SPDX-License-Identifier: Apache-2.0
// Runners of finetune-tokens and predict-tokens in bigbird-dna-tensors.
#include "commands/commands.hpp"
#include "options/ranks_option.hpp"
#include "support/launch.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/task_models/score/score.hpp"
#include "bigbird/task_models/train/finetune.hpp"

namespace bigbird::cli {

int run(const task_models::FinetuneTokensSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    report_finetuned(spec, task_models::finetune_tokens(spec, rank_of_this_process(spec.processes)));
    return 0;
}

int run(const task_models::PredictTokensSpec& spec) {
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
