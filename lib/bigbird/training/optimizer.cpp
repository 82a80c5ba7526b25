// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/optimizer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"

#include <ATen/ATen.h>

#include <cmath>
#include <set>

namespace bigbird::training {

namespace {

const at::Tensor& require(const model::TensorMap& state, const std::string& name, const at::Tensor& like) {
    const auto found = state.find(name);
    if (found == state.end()) {
        throw InputError("the optimizer state lacks " + name + "; it belongs to another model");
    }
    if (found->second.sizes() != like.sizes() || found->second.scalar_type() != like.scalar_type()) {
        throw InputError("the optimizer state's " + name + " has another shape; it belongs to another model");
    }
    return found->second;
}

}  // namespace

AdamW::AdamW(const torch::nn::Module& module, const OptimizerSpec& spec) : spec_(spec), groups_(2) {
    spec_.validate();
    groups_[0].weight_decay = spec_.weight_decay;
    std::set<const void*> seen;
    for (const auto& item : module.named_parameters()) {
        const at::Tensor& parameter = item.value();
        if (!parameter.requires_grad() || !seen.insert(parameter.unsafeGetTensorImpl()).second) {
            continue;
        }
        BIGBIRD_EXPECTS(parameter.scalar_type() == at::kFloat, item.key() + " is not float32");
        Group& group = groups_[parameter.dim() >= 2 ? 0 : 1];
        group.names.push_back(item.key());
        group.parameters.push_back(parameter);
        group.moments1.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve).detach());
        group.moments2.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve).detach());
    }
    std::erase_if(groups_, [](const Group& group) { return group.parameters.empty(); });
    BIGBIRD_EXPECTS(!groups_.empty(), "nothing to train");
    step_ = at::zeros({}, groups_.front().parameters.front().options().requires_grad(false));
}

void AdamW::zero_gradients() {
    for (Group& group : groups_) {
        for (at::Tensor& parameter : group.parameters) {
            parameter.mutable_grad().reset();
        }
    }
}

at::Tensor AdamW::step(double learning_rate, const at::Tensor& loss) {
    const at::NoGradGuard no_gradients;
    std::vector<std::vector<at::Tensor>> gradients;
    std::vector<at::Tensor> norms;
    for (const Group& group : groups_) {
        std::vector<at::Tensor>& mine = gradients.emplace_back();
        for (const at::Tensor& parameter : group.parameters) {
            mine.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter));
        }
        for (at::Tensor& norm : at::_foreach_norm(mine)) {
            norms.push_back(std::move(norm));
        }
    }
    const at::Tensor norm = at::linalg_vector_norm(at::stack(norms));
    const at::Tensor guard = loss.defined() ? norm + 0 * loss.detach().to(norm.options()) : norm;
    const at::Tensor broken = guard.isfinite().logical_not().to(at::kFloat);
    // The kernel divides by the scale and does nothing where `broken` is 1, both on the device.
    std::optional<at::Tensor> scale;
    if (spec_.clip_norm > 0) {
        scale = (norm / spec_.clip_norm).clamp_min(1.0);
    }
    step_.add_(1 - broken);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        Group& group = groups_[g];
        const std::vector<at::Tensor> steps(group.parameters.size(), step_);
        at::_fused_adamw_(group.parameters, gradients[g], group.moments1, group.moments2, {}, steps,
                          learning_rate, spec_.beta1, spec_.beta2, group.weight_decay, spec_.epsilon, false,
                          false, scale, broken);
    }
    return norm;
}

model::TensorMap AdamW::state() const {
    model::TensorMap state{{"step", step_}};
    for (const Group& group : groups_) {
        for (std::size_t i = 0; i < group.names.size(); ++i) {
            state.emplace("moment1." + group.names[i], group.moments1[i]);
            state.emplace("moment2." + group.names[i], group.moments2[i]);
        }
    }
    return state;
}

void AdamW::restore(const model::TensorMap& state) {
    const model::TensorMap mine = this->state();
    for (const auto& [name, tensor] : mine) {
        require(state, name, tensor);
    }
    if (state.size() != mine.size()) {
        throw InputError("the optimizer state has tensors that the model lacks; it belongs to another model");
    }
    for (const auto& [name, tensor] : mine) {
        tensor.copy_(state.at(name));
    }
}

}  // namespace bigbird::training
