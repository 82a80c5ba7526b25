// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "options/finetune_options.hpp"
#include "support/program.hpp"

namespace bigbird::cli {

struct FinetunePromoterOptions {
    FinetuneOptions finetune;
};

void setup_finetune_promoter(Program& program, Runner<FinetunePromoterOptions> run);
/// Only in bigbird-dna-tensors.
int run_finetune_promoter(const FinetunePromoterOptions& options);

}  // namespace bigbird::cli
