// SPDX-License-Identifier: Apache-2.0
// Runners of motifs-export and motifs-marginalize in bigbird-dna-tensors.
#include "commands/commands.hpp"

#include "bigbird/core/log.hpp"
#include "bigbird/task_models/score/score.hpp"

namespace bigbird::cli {

int run(const task_models::ExportMotifsSpec& spec) {
    log_info("{} motifs written", task_models::export_motifs(spec));
    return 0;
}

int run(const task_models::MarginalizeSpec& spec) {
    log_info("{} backgrounds scored", task_models::marginalize_motifs(spec));
    return 0;
}

}  // namespace bigbird::cli
