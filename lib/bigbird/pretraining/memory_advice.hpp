// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/pretraining/masked/cost.hpp"
#include "bigbird/pretraining/pretrain.hpp"

#include <optional>
#include <string>

namespace bigbird::pretraining {

/// What one process of the run computes at once; the specification's vocab_size is the tokenizer's already.
MemoryLoad memory_load(const PretrainRun& spec);

/// How much the run needs, of `bytes` that are there, and which options would fit, the mildest first: fewer
/// sequences at once, recomputing, shorter sequences, a smaller network.
std::string memory_advice(const PretrainRun& spec, double bytes);

/// The same where the run is not expected to fit.
std::optional<std::string> memory_warning(const PretrainRun& spec, double bytes);

}  // namespace bigbird::pretraining
