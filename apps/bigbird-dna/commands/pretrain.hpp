// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/program.hpp"

#include "bigbird/pretraining/specs/pretrain_spec.hpp"

namespace bigbird::cli {

void setup_pretrain(Program& program, Runner<pretraining::PretrainSpec> run);
/// Only in bigbird-dna-tensors.
int run_pretrain(const pretraining::PretrainSpec& spec);

}  // namespace bigbird::cli
