// SPDX-License-Identifier: Apache-2.0
// AdamW (Loshchilov and Hutter 2019) with bias correction, fused over all parameters, clipping by the global
// norm in the same pass. Or Muon (muon.hpp) for the matrices within the encoder's layers and AdamW for the
// rest.
#pragma once

#include "bigbird/model/safetensors.hpp"
#include "bigbird/training/specs/optimizer_spec.hpp"

#include <torch/nn/module.h>

#include <string>
#include <vector>

namespace bigbird::training {

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
    Group& group_of(const std::string& name, const at::Tensor& parameter);
    void add(const std::string& name, const at::Tensor& parameter);
    Clipping clipping(const std::vector<std::vector<at::Tensor>>& gradients, const at::Tensor& loss) const;
    void update_by_adamw(Group& group, const std::vector<at::Tensor>& gradients, double learning_rate,
                         const Clipping& clipping);

    OptimizerSpec spec_;
    std::vector<Group> groups_;
    at::Tensor step_;  // 0-dim float32, updates made
};

}  // namespace bigbird::training
