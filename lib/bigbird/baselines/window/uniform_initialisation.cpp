// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/uniform_initialisation.hpp"

#include "bigbird/core/rng.hpp"

#include <cmath>
#include <span>

namespace bigbird::baselines {

namespace {

constexpr std::int64_t gates = 4;  // gates of an LSTM

std::int64_t inputs_of(const std::string& name, const at::Tensor& parameter,
                       const torch::OrderedDict<std::string, at::Tensor>& all) {
    if (name.find("_l0") != std::string::npos) return parameter.size(0) / gates;
    if (parameter.dim() > 1) return parameter.numel() / parameter.size(0);
    const at::Tensor& weight = all[name.substr(0, name.rfind('.')) + ".weight"];
    return weight.numel() / weight.size(0);
}

}  // namespace

void initialise_uniformly(torch::nn::Module& module, std::uint64_t seed) {
    const at::NoGradGuard no_gradients;
    const Rng stream = Rng(seed).split("initialise");
    auto parameters = module.named_parameters();
    for (auto& item : parameters) {
        const double bound =
            1 / std::sqrt(static_cast<double>(inputs_of(item.key(), item.value(), parameters)));
        at::Tensor values = at::empty(item.value().sizes(), at::kFloat);
        Rng rng = stream.split(item.key());
        for (float& value :
             std::span(values.mutable_data_ptr<float>(), static_cast<std::size_t>(values.numel())))
            value = static_cast<float>(bound * (2 * rng.uniform() - 1));
        item.value().copy_(values);
    }
}

}  // namespace bigbird::baselines
