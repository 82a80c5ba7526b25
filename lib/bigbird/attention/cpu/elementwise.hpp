// SPDX-License-Identifier: Apache-2.0
// Element by element on the CPU, vectorised for the processor at hand; LibTorch's tanh GELU takes longer than
// the matrix product before it (docs/development/measurements.md). No LibTorch here.
#pragma once

#include <cstdint>

namespace bigbird::attention {

/// The loss of a row of logits.
struct RowLoss {
    float nats;       ///< -ln softmax(logits)[label]
    bool is_correct;  ///< the label's logit is the greatest, the first of equals
};

struct ElementwiseKernels {
    /// y = 0.5 x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))); y may be x. float, or bfloat16 where `bf16`.
    void (*gelu_tanh)(const void* x, void* y, std::int64_t count, bool bf16);
    /// dx = dy * gelu_tanh'(x).
    void (*gelu_tanh_backward)(const void* dy, const void* x, void* dx, std::int64_t count, bool bf16);
    /// The loss of `count` logits; where `differentiate`, they become its gradient: softmax(logits), less 1
    /// at the label, which is in [0, count).
    RowLoss (*softmax_gradient)(void* logits, std::int64_t count, std::int64_t label, bool differentiate,
                                bool bf16);
};

/// nullptr where the processor has no AVX2.
const ElementwiseKernels* elementwise_kernels();

}  // namespace bigbird::attention
