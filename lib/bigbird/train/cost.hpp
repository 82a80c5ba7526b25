// SPDX-License-Identifier: Apache-2.0
// What pretraining costs, counted and not measured. Multiply-adds count as two operations; only matrix
// products count.
#pragma once

#include "bigbird/model/config.hpp"

#include <cstdint>

namespace bigbird::train {

/// Parameters of BigBirdForPreTraining with the tied decoder.
std::int64_t parameter_count(const model::BigBirdConfig& config);

/// Mean number of keys that a query of a sequence of `blocks` blocks attends.
double attended_keys(const model::BigBirdConfig& config, std::int64_t blocks);

/// Operations of one forward pass over `tokens` padded tokens in sequences of `blocks` blocks, `masked` of
/// them predicted. Training costs three times that.
double forward_operations(const model::BigBirdConfig& config, std::int64_t blocks, std::int64_t tokens,
                          std::int64_t masked);

/// Bytes of the weights, their gradients and AdamW's two moments in float32.
std::int64_t state_bytes(const model::BigBirdConfig& config);

/// About the bytes that the backward pass of `tokens` padded tokens needs kept, `width` bytes an element;
/// with `recompute` the layers' inputs and one layer.
double activation_bytes(const model::BigBirdConfig& config, std::int64_t tokens, int width, bool recompute);

}  // namespace bigbird::train
