// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/model/bigbird.hpp"

#include <torch/nn/module.h>

namespace bigbird::baselines {

/// A network over bases (base_codes.hpp): all windows of a model have one length.
class BaseNetworkImpl : public torch::nn::Module {
public:
    /// bases: (batch, length) int64 codes; returns (batch, labels) logits. In training mode, applies dropout
    /// with `key` (model/layers/dropout.hpp).
    virtual at::Tensor forward(const at::Tensor& bases, const model::DropoutKey& key) = 0;
};
using BaseNetwork = std::shared_ptr<BaseNetworkImpl>;

}  // namespace bigbird::baselines
