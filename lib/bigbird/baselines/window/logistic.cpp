// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/logistic.hpp"

#include "bigbird/core/interrupt.hpp"

#include <ATen/ATen.h>
#include <torch/optim/lbfgs.h>

namespace bigbird::baselines {

namespace {

at::Tensor mean_loss(const at::Tensor& scores, const at::Tensor& targets) {
    if (targets.dim() == 1) return at::cross_entropy_loss(scores, targets);
    return at::binary_cross_entropy_with_logits(scores, targets.to(scores.scalar_type())) *
           static_cast<double>(targets.size(1));
}

}  // namespace

LinearScores fit_logistic(const at::Tensor& features, const at::Tensor& targets, std::int64_t labels,
                          double cost, const LinearScores* start) {
    const at::Tensor x = features.to(at::kDouble);
    const auto options = x.options();
    at::Tensor weight = start != nullptr ? start->weight.clone() : at::zeros({labels, x.size(1)}, options),
               bias = start != nullptr ? start->bias.clone() : at::zeros({labels}, options);
    weight.set_requires_grad(true);
    bias.set_requires_grad(true);
    constexpr std::int64_t most_iterations = 1000;
    constexpr double precision = 1e-8;
    torch::optim::LBFGS optimizer({weight, bias}, torch::optim::LBFGSOptions(1)
                                                      .max_iter(most_iterations)
                                                      .max_eval(2 * most_iterations)
                                                      .tolerance_grad(precision)
                                                      .tolerance_change(precision * precision)
                                                      .history_size(20)
                                                      .line_search_fn("strong_wolfe"));
    const double penalty = 1 / (2 * cost * static_cast<double>(x.size(0)));
    optimizer.step([&] {
        stop_if_asked();
        const at::AutoGradMode with_gradients(true);
        optimizer.zero_grad();
        at::Tensor loss = mean_loss(at::linear(x, weight, bias), targets) + penalty * weight.square().sum();
        loss.backward();
        return loss;
    });
    return {weight.detach(), bias.detach()};
}

double logistic_loss(const at::Tensor& scores, const at::Tensor& targets) {
    return mean_loss(scores.to(at::kDouble), targets).item<double>();
}

}  // namespace bigbird::baselines
