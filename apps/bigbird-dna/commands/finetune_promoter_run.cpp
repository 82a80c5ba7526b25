// SPDX-License-Identifier: Apache-2.0
#include "commands/finetune_promoter.hpp"
#include "options/scoring_specs.hpp"

namespace bigbird::cli {

int run_finetune_promoter(const FinetunePromoterOptions& options) {
    return run_finetune(options.finetune, examples::Task::promoter);
}

}  // namespace bigbird::cli
