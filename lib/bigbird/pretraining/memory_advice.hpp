// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/pretraining/masked/cost.hpp"
#include "bigbird/pretraining/pretrain.hpp"

#include <optional>
#include <string>

namespace bigbird::pretraining {

/// The work that one process of the run computes at once; the specification already has the tokenizer's
/// vocab_size.
MemoryLoad memory_load(const PretrainRun& spec);

/// Text on how much of the available `bytes` the run needs, and which options would make it fit, the mildest
/// first: fewer sequences at once, recomputing, shorter sequences, a smaller network.
std::string memory_advice(const PretrainRun& spec, double bytes);

/// The same text if the run is not expected to fit, else nullopt.
std::optional<std::string> memory_warning(const PretrainRun& spec, double bytes);

}  // namespace bigbird::pretraining
