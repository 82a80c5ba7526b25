// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bigbird::model {

struct LinearCrossEntropy {
    at::Tensor nats;         // (): sum of -ln softmax(hidden W^T + b)[label], float32; differentiable
    at::Tensor correct;      // (): rows whose greatest logit is the label's, int64
    at::Tensor row_nats;     // (rows) float32, each row's nats, without its weight; no gradient
    at::Tensor row_correct;  // (rows) bool
};

/// The last layer and its loss in one pass over chunks of rows, which also computes the gradients. So the
/// complete logits (rows, vocab) never exist at once. hidden: (rows, hidden); weight: (vocab, hidden); bias:
/// (vocab); labels: (rows) int64; weights: (rows) float32, of each row in nats, or undefined: 1. Computes as
/// at::linear does under autocast, the softmax in float32. `chunk_rows` 0: 2^25 logits at a time, 128 MB in
/// float32. `fused`: softmax_loss_()'s.
LinearCrossEntropy linear_cross_entropy(const at::Tensor& hidden, const at::Tensor& weight,
                                        const at::Tensor& bias, const at::Tensor& labels,
                                        const at::Tensor& weights = {}, std::int64_t chunk_rows = 0,
                                        bool fused = false);

}  // namespace bigbird::model
