// SPDX-License-Identifier: Apache-2.0
// The networks among the models that the paper's tables compare BigBird with.
#pragma once

#include "bigbird/baselines/names/architecture_names.hpp"
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

/// Fills every parameter uniformly in +-1 / sqrt(inputs of its layer), PyTorch's default (LSTM: of its hidden
/// units), as a function only of the seed and the parameter's name.
void initialise_uniformly(torch::nn::Module& module, std::uint64_t seed);

/// CNNProm (Umarov and Solovyev 2017): its network for human non-TATA promoters. One convolution of 300
/// filters of 21 bases with ReLU, max-pooling over 231 positions (all of them in its windows of 251 bases,
/// -200:51), 128 hidden units with ReLU.
BaseNetwork make_cnnprom(std::int64_t length, std::int64_t labels);

/// DeePromoter (Oubounyt et al. 2019): three parallel convolutions of 27, 14 and 7 bases, each with ReLU,
/// max-pooling over 6 and dropout 0.5. Then a bidirectional LSTM of 32 units per direction over their joined
/// channels, and 128 hidden units with ReLU and dropout 0.5. Windows of 300 bases, -249:51. The number of
/// filters is not known for certain; 32 each are used.
BaseNetwork make_deepromoter(std::int64_t length, std::int64_t labels);

/// DeepSEA's network (Zhou and Troyanskaya 2015): convolutions of 320, 480 and 960 filters of 8, each with
/// ReLU, the first two followed by max-pooling over 4. Dropout is 0.2, 0.2 and 0.5; 925 hidden units have
/// ReLU. Windows of 1,000 bases around the bin. Its L1 penalty and bounded norms are missing: the optimizer
/// is this program's AdamW.
BaseNetwork make_deepsea(std::int64_t length, std::int64_t labels);

/// A network for windows of `length` bases, its parameters drawn from `seed`; `name` is one that
/// is_network(). Throws ConfigError if the window is too short for its layers.
BaseNetwork make_network(const std::string& name, std::int64_t length, std::int64_t labels,
                         std::uint64_t seed);

}  // namespace bigbird::baselines
