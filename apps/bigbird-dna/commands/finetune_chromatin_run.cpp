// SPDX-License-Identifier: Apache-2.0
#include "commands/finetune_chromatin.hpp"
#include "options/scoring_specs.hpp"

namespace bigbird::cli {

int run_finetune_chromatin(const FinetuneChromatinOptions& options) {
    report(scoring::finetune(finetune_spec(options.finetune, tasks::Task::chromatin)));
    return 0;
}

}  // namespace bigbird::cli
