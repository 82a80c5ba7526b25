// SPDX-License-Identifier: Apache-2.0
// The cost of pretraining, counted rather than measured. Multiply-adds count as two operations; only matrix
// products count. Lengths and tokens are the sequences' own; extra global tokens in front are added here.
#pragma once

#include "bigbird/model/files/config.hpp"

#include <cstdint>

namespace bigbird::pretraining {

/// Parameters of BigBirdForPreTraining with the tied decoder.
std::int64_t parameter_count(const model::BigBirdConfig& config);

/// Mean number of keys that a query attends among `blocks` blocks, including the extra global tokens' blocks;
/// for a Performer, the number with the same cost.
double attended_keys(const model::BigBirdConfig& config, std::int64_t blocks);

/// Operations of one forward pass over `tokens` padded tokens in sequences of `blocks` blocks, of which
/// `masked` tokens are predicted. Training costs three times that.
double forward_operations(const model::BigBirdConfig& config, std::int64_t blocks, std::int64_t tokens,
                          std::int64_t masked);

/// Bytes of the weights, their gradients and AdamW's two moments in float32; Muon keeps less.
std::int64_t state_bytes(const model::BigBirdConfig& config);

/// What determines the memory of a training process, besides the network.
struct MemoryLoad {
    std::int64_t sequences = 1, length = 0;  ///< computed at once, padded
    double masked_share = 0.15;
    bool bf16 = false, recompute = false;
    bool on_cpu = true;
    bool several_ranks = false;  ///< several ranks hold a second copy of gradients, in buckets
};

/// Approximate bytes of a training process: on a CPU all resident memory, on a GPU LibTorch's allocations.
/// The bytes are counted, except for a process' memory at the start and freed memory that the C library
/// keeps; measured figures are in docs/performance.md. The GPU's are not measured yet.
struct MemoryNeed {
    double program = 0;      ///< LibTorch itself
    double state = 0;        ///< weights, gradients, moments
    double activations = 0;  ///< and everything else that grows with the number of tokens computed at once
    double total() const { return program + state + activations; }
};
MemoryNeed memory_needed(const model::BigBirdConfig& config, const MemoryLoad& load);

}  // namespace bigbird::pretraining
