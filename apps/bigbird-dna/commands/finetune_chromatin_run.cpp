// SPDX-License-Identifier: Apache-2.0
#include "commands/finetune_chromatin.hpp"
#include "options/scoring_specs.hpp"

namespace bigbird::cli {

int run_finetune_chromatin(const FinetuneChromatinOptions& options) {
    return run_finetune(options.finetune, examples::Task::chromatin);
}

}  // namespace bigbird::cli
