// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/recompute.hpp"

#include "bigbird/model/layers/onednn_linear.hpp"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/autograd.h>
#include <torch/csrc/autograd/custom_function.h>
#include <torch/custom_class.h>

namespace bigbird::model {

namespace {

using Layer = std::function<at::Tensor(const at::Tensor&)>;

struct Holder : torch::CustomClassHolder {
    explicit Holder(Layer function) : layer(std::move(function)) {}
    Layer layer;
};

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

class Recomputed : public torch::autograd::Function<Recomputed> {
public:
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x,
                              const c10::intrusive_ptr<torch::CustomClassHolder>& holder) {
        const at::DeviceType device = x.device().type();
        context->save_for_backward({x});
        context->saved_data["layer"] = c10::IValue::make_capsule(holder);
        context->saved_data["autocast"] = at::autocast::is_autocast_enabled(device);
        context->saved_data["type"] = static_cast<std::int64_t>(at::autocast::get_autocast_dtype(device));
        const AsWithGradients same_products;
        return static_cast<const Holder&>(*holder).layer(x);
    }

    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        const at::Tensor x = context->get_saved_variables()[0].detach().requires_grad_(true);
        const auto holder = context->saved_data["layer"].toCapsule();
        at::Tensor out;
        {
            const at::AutoGradMode with_gradients(true);
            const AutocastAgain autocast(x.device().type(), context->saved_data["autocast"].toBool(),
                                         static_cast<at::ScalarType>(context->saved_data["type"].toInt()));
            out = static_cast<const Holder&>(*holder).layer(x);
        }
        torch::autograd::backward({out}, {gradients[0]});
        return {x.grad(), at::Tensor()};
    }
};

}  // namespace

at::Tensor recomputed(const Layer& layer, const at::Tensor& x) {
    if (!at::GradMode::is_enabled() || !x.requires_grad()) return layer(x);
    return Recomputed::apply(
        x, c10::intrusive_ptr<torch::CustomClassHolder>(c10::make_intrusive<Holder>(layer)));
}

}  // namespace bigbird::model
