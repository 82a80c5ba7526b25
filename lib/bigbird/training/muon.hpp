// SPDX-License-Identifier: Apache-2.0
// Muon (Jordan and others 2024), an optimizer for the matrices within a network: each update is the momentum
// with all its singular values set to about 1. It is scaled as by Liu and others (2025), so that AdamW's
// learning rate and weight decay fit.
#pragma once

#include "bigbird/model/safetensors.hpp"

#include <string>

namespace bigbird::training {

/// Whether Muon updates a parameter: a matrix of an encoder's layer ("…encoder.layer.0.…"). Embeddings,
/// heads, norms, biases and convolutions are not.
bool is_hidden_matrix(const std::string& name, const at::Tensor& parameter);

/// U V^T of the singular value decomposition U S V^T, roughly: five Newton-Schulz iterations bring singular
/// values to about 0.7 to 1.2, except those far below the largest, which stay smaller. Zero stays zero. In
/// the matrix's type.
at::Tensor orthogonalised(const at::Tensor& matrix);

/// Values that all matrices of a step share. `divisor`: divides gradients, to clip them. Both tensors are
/// 0-dim on the parameters' device, so that nothing waits for it.
struct MuonStep {
    double learning_rate = 0, weight_decay = 0;
    at::Tensor divisor = {};  ///< undefined: 1
    at::Tensor broken = {};   ///< bool: true leaves everything unchanged
};

/// One update of a matrix and its momentum, which keep their types. On a GPU the iterations are in bfloat16,
/// as Jordan's: rounding is far smaller than the error that five iterations leave in the singular values. All
/// processes that share a batch repeat them; float32 would take some percent of a step.
void muon_update(at::Tensor& parameter, at::Tensor& momentum, const at::Tensor& gradient,
                 const MuonStep& step);

}  // namespace bigbird::training
