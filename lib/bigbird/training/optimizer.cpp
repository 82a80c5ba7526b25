// SPDX-License-Identifier: Apache-2.0
#include "bigbird/training/optimizer.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/error.hpp"
#include "bigbird/core/log.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>

namespace bigbird::training {

namespace {

constexpr double momentum_decay = 0.95;
constexpr int iterations = 5;
constexpr double a = 3.4445, b = -4.7750,
                 c = 2.0315;  // Jordan's coefficients: steep at 0, and near 1 after five iterations
constexpr double smallest_norm = 1e-7;
constexpr double rms_of_adamw = 0.2;  // Liu and others: of an update by AdamW, divided by its learning rate

/// An orthogonal matrix has elements of root mean square 1 / sqrt(the longer side).
double scale_of(const at::Tensor& matrix) {
    return rms_of_adamw * std::sqrt(static_cast<double>(std::max(matrix.size(0), matrix.size(1))));
}

const at::Tensor& require(const model::TensorMap& state, const std::string& name, const at::Tensor& like) {
    const auto found = state.find(name);
    if (found == state.end())
        throw InputError("the optimizer state lacks " + name + "; it belongs to another model");
    if (found->second.sizes() != like.sizes() || found->second.scalar_type() != like.scalar_type())
        throw InputError("the optimizer state's " + name + " has another shape; it belongs to another model");
    return found->second;
}

constexpr const char* momentum_prefix = "momentum.";

/// Determines the optimizer from the names: only Muon has a momentum.
OptimizerKind kind_of(const model::TensorMap& state) {
    const auto is_momentum = [](const auto& item) { return item.first.starts_with(momentum_prefix); };
    return std::ranges::any_of(state, is_momentum) ? OptimizerKind::muon : OptimizerKind::adamw;
}

}  // namespace

bool is_hidden_matrix(const std::string& name, const at::Tensor& parameter) {
    return parameter.dim() == 2 && name.find("encoder.layer.") != std::string::npos;
}

at::Tensor orthogonalised(const at::Tensor& matrix) {
    const bool tall = matrix.size(0) > matrix.size(1);
    at::Tensor x = tall ? matrix.t() : matrix;  // the products below are the shorter side's
    x = x / (at::linalg_matrix_norm(x) + smallest_norm);
    for (int i = 0; i < iterations; ++i) {
        const at::Tensor square = at::mm(x, x.t());
        x = at::addmm(x, at::addmm(square, square, square, b, c), x, a);
    }
    return tall ? x.t() : x;
}

void muon_update(at::Tensor& parameter, at::Tensor& momentum, const at::Tensor& gradient,
                 const MuonStep& step) {
    const at::Tensor clipped = step.divisor.defined() ? gradient / step.divisor : gradient;
    const at::Tensor next = momentum * momentum_decay + clipped;
    const at::Tensor ahead = clipped + next * momentum_decay;  // Nesterov's
    const at::ScalarType type = parameter.is_cpu() ? parameter.scalar_type() : at::kBFloat16;
    const at::Tensor update = orthogonalised(ahead.to(type)).to(parameter.scalar_type());
    const at::Tensor moved = at::add(parameter * (1 - step.learning_rate * step.weight_decay), update,
                                     -step.learning_rate * scale_of(parameter));
    momentum.copy_(at::where(step.broken, momentum, next));
    parameter.copy_(at::where(step.broken, parameter, moved));
}

Optimizer::Optimizer(const torch::nn::Module& module, const OptimizerSpec& spec) : spec_(spec) {
    spec_.validate();
    groups_ = {{.weight_decay = spec_.weight_decay},
               {},
               {.kind = OptimizerKind::muon, .weight_decay = spec_.weight_decay}};
    std::set<const void*> seen;
    for (const auto& item : module.named_parameters()) {
        const at::Tensor& parameter = item.value();
        if (!parameter.requires_grad() || !seen.insert(parameter.unsafeGetTensorImpl()).second) continue;
        BIGBIRD_EXPECTS(parameter.scalar_type() == at::kFloat, item.key() + " is not float32");
        add(item.key(), parameter);
    }
    std::erase_if(groups_, [](const Group& group) { return group.parameters.empty(); });
    BIGBIRD_EXPECTS(!groups_.empty(), "nothing to train");
    step_ = at::zeros({}, groups_.front().parameters.front().options().requires_grad(false));
}

void Optimizer::add(const std::string& name, const at::Tensor& parameter) {
    const bool by_muon = spec_.kind == OptimizerKind::muon && is_hidden_matrix(name, parameter);
    Group& group = groups_[by_muon ? 2 : parameter.dim() >= 2 ? 0 : 1];
    group.names.push_back(name);
    group.parameters.push_back(parameter);
    group.moments1.push_back(at::zeros_like(parameter, at::MemoryFormat::Preserve).detach());
    if (group.kind == OptimizerKind::adamw) group.moments2.push_back(group.moments1.back().clone());
}

void Optimizer::zero_gradients() {
    for (Group& group : groups_)
        for (at::Tensor& parameter : group.parameters)
            parameter.mutable_grad().reset();
}

Optimizer::Clipping Optimizer::clipping(const std::vector<std::vector<at::Tensor>>& gradients,
                                        const at::Tensor& loss) const {
    std::vector<at::Tensor> norms;
    for (const std::vector<at::Tensor>& some : gradients)
        for (at::Tensor& norm : at::_foreach_norm(some))
            norms.push_back(std::move(norm));
    Clipping clipping{.norm = at::linalg_vector_norm(at::stack(norms))};
    const at::Tensor& norm = clipping.norm;
    const at::Tensor guard = loss.defined() ? norm + 0 * loss.detach().to(norm.options()) : norm;
    clipping.broken = guard.isfinite().logical_not().to(at::kFloat);
    if (spec_.clip_norm > 0) clipping.divisor = (norm / spec_.clip_norm).clamp_min(1.0);
    return clipping;
}

/// The kernel divides by the divisor and does nothing if `broken` is 1, both on the device.
void Optimizer::update_by_adamw(Group& group, const std::vector<at::Tensor>& gradients, double learning_rate,
                                const Clipping& clipping) {
    const std::vector<at::Tensor> steps(group.parameters.size(), step_);
    const auto divisor =
        clipping.divisor.defined() ? std::optional<at::Tensor>(clipping.divisor) : std::nullopt;
    at::_fused_adamw_(group.parameters, gradients, group.moments1, group.moments2, {}, steps, learning_rate,
                      spec_.beta1, spec_.beta2, group.weight_decay, spec_.epsilon, false, false, divisor,
                      clipping.broken);
}

at::Tensor Optimizer::step(double learning_rate, const at::Tensor& loss) {
    const at::NoGradGuard no_gradients;
    std::vector<std::vector<at::Tensor>> gradients;
    for (const Group& group : groups_) {
        std::vector<at::Tensor>& mine = gradients.emplace_back();
        for (const at::Tensor& parameter : group.parameters)
            mine.push_back(parameter.grad().defined() ? parameter.grad() : at::zeros_like(parameter));
    }
    const Clipping clipped = clipping(gradients, loss);
    step_.add_(1 - clipped.broken);
    for (std::size_t g = 0; g < groups_.size(); ++g) {
        Group& group = groups_[g];
        if (group.kind == OptimizerKind::adamw) {
            update_by_adamw(group, gradients[g], learning_rate, clipped);
            continue;
        }
        const MuonStep step{learning_rate, group.weight_decay, clipped.divisor, clipped.broken.to(at::kBool)};
        for (std::size_t i = 0; i < group.parameters.size(); ++i)
            muon_update(group.parameters[i], group.moments1[i], gradients[g][i], step);
    }
    return clipped.norm;
}

model::TensorMap Optimizer::state() const {
    model::TensorMap state{{"step", step_}};
    for (const Group& group : groups_) {
        const bool adamw = group.kind == OptimizerKind::adamw;
        for (std::size_t i = 0; i < group.names.size(); ++i) {
            state.emplace((adamw ? "moment1." : momentum_prefix) + group.names[i], group.moments1[i]);
            if (adamw) state.emplace("moment2." + group.names[i], group.moments2[i]);
        }
    }
    return state;
}

void Optimizer::restore(const model::TensorMap& state) {
    const model::TensorMap mine = this->state();
    if (kind_of(state) != kind_of(mine)) {
        throw InputError(fmt::format("the optimizer state is that of --optimizer {}, this run's is {}",
                                     word_of(optimizer_choices, kind_of(state)),
                                     word_of(optimizer_choices, kind_of(mine))));
    }
    for (const auto& [name, tensor] : mine)
        require(state, name, tensor);
    if (state.size() != mine.size())
        throw InputError("the optimizer state has tensors that the model lacks; it belongs to another model");
    for (const auto& [name, tensor] : mine)
        tensor.copy_(state.at(name));
}

}  // namespace bigbird::training
