// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace bigbird::model {

/// The loss of rows of logits; its gradient overwrites the logits. Uses our own kernels on a CPU and, if the
/// CUDA kernels are chosen, on a GPU; else LibTorch.
struct SoftmaxLoss {
    at::Tensor nats;  // (rows) float32: -ln softmax(logits)[label]
    at::Tensor
        correct;  // (rows) int32: 1 where the label's logit is the greatest, the first of equals; else 0
};

/// logits: (rows, classes), contiguous, of any floating type; labels: (rows) int64, each in [0, classes).
/// Computed in float32. With `differentiate`, logits become softmax(logits), minus 1 at the label; without it
/// their contents are unspecified. `fused`: the CUDA kernels are chosen (fused_type()); they take 16-bit
/// logits of a multiple of 8 classes.
SoftmaxLoss softmax_loss_(const at::Tensor& logits, const at::Tensor& labels, bool differentiate,
                          bool fused = false);

/// The slow twin: LibTorch's operations one after the other.
SoftmaxLoss softmax_loss_by_torch_(const at::Tensor& logits, const at::Tensor& labels, bool differentiate);

struct LinearCrossEntropy {
    at::Tensor nats;         // (): sum of -ln softmax(hidden W^T + b)[label], float32; differentiable
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
