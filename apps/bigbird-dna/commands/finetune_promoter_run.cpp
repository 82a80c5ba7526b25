// SPDX-License-Identifier: Apache-2.0
#include "commands/finetune_promoter.hpp"
#include "options/scoring_specs.hpp"

namespace bigbird::cli {

int run_finetune_promoter(const FinetunePromoterOptions& options) {
    report(scoring::finetune(finetune_spec(options.finetune, tasks::Task::promoter)));
    return 0;
}

}  // namespace bigbird::cli
