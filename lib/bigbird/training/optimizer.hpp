// SPDX-License-Identifier: Apache-2.0
// AdamW (Loshchilov and Hutter 2019) with bias correction, fused over all parameters, clipping by the global
// norm in the same pass. Or Muon for the matrices within the encoder's layers and AdamW for the
// rest.
#pragma once

#include "bigbird/model/safetensors.hpp"
#include "bigbird/training/specs/run_spec.hpp"

#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace bigbird::training {

// Muon (Jordan and others 2024), an optimizer for the matrices within a network: each update is the momentum
// with all its singular values set to about 1. It is scaled as by Liu and others (2025), so that AdamW's
// learning rate and weight decay fit.

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

/// Keeps references to the module's parameters (shared ones once); moments are on their device in float32.
/// Not thread-safe.
class Optimizer {
public:
    Optimizer(const torch::nn::Module& module, const OptimizerSpec& spec);

    /// Forgets all gradients.
    void zero_gradients();
    /// One update from the gradients in .grad (undefined ones count as 0). If the gradient's norm or `loss`
    /// is not finite, nothing changes. Returns the norm before clipping: 0-dim float32 on the parameters'
    /// device, so that nothing waits for the device. Clipping may scale the gradients in place.
    at::Tensor step(double learning_rate, const at::Tensor& loss = {});

    /// "moment1.NAME", "moment2.NAME" for each parameter of AdamW, "momentum.NAME" for each of Muon, and
    /// "step" (0-dim float32): views; write them before the next step.
    model::TensorMap state() const;
    /// Throws InputError if names or shapes do not match; then nothing has changed.
    void restore(const model::TensorMap& state);

private:
    /// Parameters with the same update rule.
    struct Group {
        OptimizerKind kind = OptimizerKind::adamw;
        double weight_decay = 0;
        std::vector<std::string> names = {};
        std::vector<at::Tensor> parameters = {}, moments1 = {}, moments2 = {};  // Muon's momentum: moments1
    };
    /// Values that all groups of a step share, 0-dim on the parameters' device.
    struct Clipping {
        at::Tensor norm = {};
        at::Tensor divisor = {};  // divides gradients; undefined: no clipping
        at::Tensor broken = {};   // 1: skip the update
    };
    void add(const std::string& name, const at::Tensor& parameter);
    Clipping clipping(const std::vector<std::vector<at::Tensor>>& gradients, const at::Tensor& loss) const;
    void update_by_adamw(Group& group, const std::vector<at::Tensor>& gradients, double learning_rate,
                         const Clipping& clipping);

    OptimizerSpec spec_;
    std::vector<Group> groups_;
    at::Tensor step_;  // 0-dim float32, updates made
};

}  // namespace bigbird::training
