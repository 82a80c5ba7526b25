// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/recompute.hpp"

#include "bigbird/model/layers/onednn_linear.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>

namespace bigbird::model {

namespace {

/// Sets a device type's autocast state while the object exists.
class AutocastAgain {
public:
    AutocastAgain(at::DeviceType device, bool enabled, at::ScalarType type)
        : device_(device),
          enabled_(at::autocast::is_autocast_enabled(device)),
          type_(at::autocast::get_autocast_dtype(device)) {
        at::autocast::set_autocast_enabled(device, enabled);
        at::autocast::set_autocast_dtype(device, type);
        at::autocast::increment_nesting();
    }
    ~AutocastAgain() {
        if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
        at::autocast::set_autocast_enabled(device_, enabled_);
        at::autocast::set_autocast_dtype(device_, type_);
    }
    AutocastAgain(const AutocastAgain&) = delete;
    AutocastAgain& operator=(const AutocastAgain&) = delete;

private:
    at::DeviceType device_;
    bool enabled_;
    at::ScalarType type_;
};

}  // namespace

at::Tensor recomputed(const std::function<at::Tensor(const at::Tensor&)>& layer, const at::Tensor& x) {
    if (!at::GradMode::is_enabled() || !x.requires_grad()) return layer(x);
    const at::DeviceType device = x.device().type();
    const bool casts = at::autocast::is_autocast_enabled(device);
    const at::ScalarType type = at::autocast::get_autocast_dtype(device);
    at::Tensor y;
    {
        const at::NoGradGuard no_gradients;
        const AsWithGradients same_products;
        y = layer(x);
    }
    set_gradient({y}, {x}, [=](const Tensors& gradients) -> Tensors {
        const at::Tensor in = x.detach().requires_grad_(true);
        at::Tensor out;
        {
            const at::AutoGradMode with_gradients(true);
            const AutocastAgain autocast(device, casts, type);
            out = layer(in);
        }
        torch::autograd::backward({out}, {gradients[0]});
        return {in.grad()};
    });
    return y;
}

}  // namespace bigbird::model
