// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/adapted_linear.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/model/layers/onednn_linear.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/function.h>

namespace bigbird::model {

namespace {

at::Tensor rows_of(const at::Tensor& x) {
    return x.flatten(0, -2);
}

at::Tensor dropped(const Adapter& adapter, const at::Tensor& x) {
    return adapter.drop ? adapter.drop(x) : x;
}

/// y += scale left right, of rows. y is contiguous.
void add_product(const at::Tensor& y, const at::Tensor& left, const at::Tensor& right, double scale) {
    at::Tensor rows = y.view({-1, y.size(-1)});
    rows.addmm_(left, right, 1, scale);
}

}  // namespace

bool has_adapted_linear(const at::Tensor& x) {
    return x.is_cpu() && x.scalar_type() == at::kFloat && x.numel() > 0 && at::GradMode::is_enabled() &&
           !at::autocast::is_autocast_enabled(at::kCPU);
}

at::Tensor plain_adapted_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                                const Adapter& adapter) {
    const at::Tensor none, low = linear(dropped(adapter, x), adapter.a, none);
    return linear(x, weight, bias) + linear(low, adapter.b, none) * adapter.scale;
}

at::Tensor adapted_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                          const Adapter& adapter) {
    BIGBIRD_EXPECTS(!weight.requires_grad() && !(bias.defined() && bias.requires_grad()),
                    "weights beside an adapter are frozen");
    const at::Tensor in = x.detach().contiguous();
    at::Tensor y, low;  // low: (rows, rank)
    Adapter own = adapter;
    own.a = adapter.a.detach();
    own.b = adapter.b.detach();
    {
        const at::NoGradGuard no_gradients;
        const AsWithGradients same_products;
        y = linear(in, weight, bias).contiguous();
        low = at::mm(rows_of(dropped(own, in)), own.a.t());
        add_product(y, low, own.b.t(), own.scale);
    }
    set_gradient({y}, {x, adapter.a, adapter.b}, [=](const Tensors& gradients) {
        BIGBIRD_EXPECTS(!at::GradMode::is_enabled(), "no second derivatives");
        const AsWithGradients same_products;
        const at::Tensor dy = gradients[0].contiguous();
        const at::Tensor low_slope = at::mm(rows_of(dy), own.b).mul_(own.scale);
        Tensors slopes(3);
        slopes[1] = at::mm(low_slope.t(), rows_of(dropped(own, in)));
        slopes[2] = at::mm(rows_of(dy).t(), low).mul_(own.scale);
        if (!torch::autograd::get_current_node()->task_should_compute_output(0)) return slopes;
        slopes[0] = linear(dy, weight.t(), at::Tensor()).contiguous();
        if (own.drop)
            slopes[0].add_(own.drop(at::mm(low_slope, own.a).view(in.sizes())));
        else
            add_product(slopes[0], low_slope, own.a, 1);
        return slopes;
    });
    return y;
}

}  // namespace bigbird::model
