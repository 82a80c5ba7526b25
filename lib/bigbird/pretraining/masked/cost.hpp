// SPDX-License-Identifier: Apache-2.0
// What pretraining costs, counted and not measured. Multiply-adds count as two operations; only matrix
// products count. Lengths and tokens are those of the sequences; extra global tokens in front are added here.
#pragma once

#include "bigbird/model/files/config.hpp"

#include <cstdint>

namespace bigbird::pretraining {

/// Parameters of BigBirdForPreTraining with the tied decoder.
std::int64_t parameter_count(const model::BigBirdConfig& config);

/// Mean number of keys that a query attends where there are `blocks` blocks, those of extra global tokens
/// included; of a Performer the number that would cost as much.
double attended_keys(const model::BigBirdConfig& config, std::int64_t blocks);

/// Operations of one forward pass over `tokens` padded tokens in sequences of `blocks` blocks, `masked` of
/// them predicted. Training costs three times that.
double forward_operations(const model::BigBirdConfig& config, std::int64_t blocks, std::int64_t tokens,
                          std::int64_t masked);

/// Bytes of the weights, their gradients and AdamW's two moments in float32; Muon keeps less.
std::int64_t state_bytes(const model::BigBirdConfig& config);

/// What decides how much memory a training process needs, besides the network.
struct MemoryLoad {
    std::int64_t sequences = 1, length = 0;  ///< computed at once, padded
    double masked_share = 0.15;
    bool bf16 = false, recompute = false;
    bool on_cpu = true;
    bool several_ranks = false;  ///< which hold their gradients once more, in buckets
};

/// About the bytes of a training process: on a CPU all that it has resident, on a GPU what LibTorch has
/// allocated there. Counted, but for what a process has before it starts and what the C library keeps of
/// freed memory; measured figures are in docs/performance.md. The GPU's are not measured yet.
struct MemoryNeed {
    double program = 0;      ///< LibTorch itself
    double state = 0;        ///< weights, gradients, moments
    double activations = 0;  ///< and all else that grows with what is computed at once
    double total() const { return program + state + activations; }
};
MemoryNeed memory_needed(const model::BigBirdConfig& config, const MemoryLoad& load);

}  // namespace bigbird::pretraining
