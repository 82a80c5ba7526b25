// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <torch/nn/module.h>

#include <cstdint>

namespace bigbird::baselines {

/// Fills every parameter uniformly in +-1 / sqrt(inputs of its layer), PyTorch's default (LSTM: of its hidden
/// units), as a function only of the seed and the parameter's name.
void initialise_uniformly(torch::nn::Module& module, std::uint64_t seed);

}  // namespace bigbird::baselines
