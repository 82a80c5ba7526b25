// SPDX-License-Identifier: Apache-2.0
// The networks among the models that the paper's tables compare BigBird with.
#pragma once

#include "bigbird/model/bigbird.hpp"

#include <torch/nn/module.h>

#include <cstdint>
#include <string>

namespace bigbird::baselines {

/// A network over bases (base_codes.hpp): all windows of a model have one length.
class BaseNetworkImpl : public torch::nn::Module {
public:
    /// bases: (batch, length) int64 codes; returns (batch, labels) logits. In training mode, applies dropout
    /// with `key` (model/layers/dropout.hpp).
    virtual at::Tensor forward(const at::Tensor& bases, const model::DropoutKey& key) = 0;
};
using BaseNetwork = std::shared_ptr<BaseNetworkImpl>;

/// A network for windows of `length` bases, its parameters drawn from `seed`: cnnprom, deepromoter or
/// deepsea. Throws ConfigError if the window is too short for its layers.
BaseNetwork make_network(const std::string& name, std::int64_t length, std::int64_t labels,
                         std::uint64_t seed);

}  // namespace bigbird::baselines
