// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/finetune_options.hpp"
#include "support/program.hpp"

namespace bigbird::cli {

struct FinetuneChromatinOptions {
    FinetuneOptions finetune;
};

void setup_finetune_chromatin(Program& program, Runner<FinetuneChromatinOptions> run);
/// Only in bigbird-dna-tensors.
int run_finetune_chromatin(const FinetuneChromatinOptions& options);

}  // namespace bigbird::cli
