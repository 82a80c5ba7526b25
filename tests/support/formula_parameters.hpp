// SPDX-License-Identifier: Apache-2.0
// Parameters of networks that scripts/checks make fixtures of.
#pragma once

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include <map>
#include <string>

namespace bigbird::testing {

/// Element i of the parameter number p (by name) is 0.5 (2 f - 1), f the fraction of 43758.5453 sin(12.9898 i
/// + p). Returns the parameters by name.
inline std::map<std::string, at::Tensor> fill_by_formula(torch::nn::Module& network) {
    const at::NoGradGuard no_gradients;
    std::map<std::string, at::Tensor> sorted;
    for (auto& item : network.named_parameters())
        sorted.emplace(item.key(), item.value());
    double number = 0;
    for (auto& [name, parameter] : sorted) {
        const at::Tensor noise =
            at::arange(parameter.numel(), at::kDouble).mul(12.9898).add(number++).sin().mul(43758.5453);
        parameter.copy_((((noise - noise.floor()) * 2 - 1) * 0.5).reshape(parameter.sizes()));
    }
    return sorted;
}

}  // namespace bigbird::testing
