// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "support/hand_over.hpp"
#include "support/program.hpp"

namespace bigbird::cli {

/// Adds every command of bigbird-dna, in the order of the help; `tensors` runs those that need LibTorch.
void add_commands(Program& program, const HandOver& tensors);

}  // namespace bigbird::cli
