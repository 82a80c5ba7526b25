// SPDX-License-Identifier: Apache-2.0
// Runner of finetune-tokens in bigbird-dna-tensors.
#include "commands/commands.hpp"
#include "options/ranks_option.hpp"
#include "support/launch.hpp"

#include "bigbird/task_models/train/finetune.hpp"

namespace bigbird::cli {

int run(const task_models::FinetuneTokensSpec& spec) {
    if (launches_processes(spec.processes)) return launch_processes(spec.processes);
    report_finetuned(spec, task_models::finetune_tokens(spec, rank_of_this_process(spec.processes)));
    return 0;
}

}  // namespace bigbird::cli
