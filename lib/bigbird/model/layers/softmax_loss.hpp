// SPDX-License-Identifier: Apache-2.0
// The loss of rows of logits; its gradient overwrites the logits. Uses our own kernels on a CPU and, if the
// CUDA kernels are chosen, on a GPU; else LibTorch.
#pragma once

#include <ATen/core/Tensor.h>

namespace bigbird::model {

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

}  // namespace bigbird::model
