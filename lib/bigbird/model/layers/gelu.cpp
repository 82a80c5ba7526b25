// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/gelu.hpp"

#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/attention/torch_threads.hpp"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/custom_function.h>

namespace bigbird::model {

namespace {

constexpr std::int64_t grain = 16'384;

bool is_half(const at::Tensor& x) {
    return x.scalar_type() == at::kBFloat16;
}

bool has_kernel(const at::Tensor& x) {
    return x.device().is_cpu() && (is_half(x) || x.scalar_type() == at::kFloat) &&
           attention::elementwise_kernels() != nullptr;
}

/// Bytes from a tensor's start to its element `index`.
std::int64_t byte(const at::Tensor& x, std::int64_t index) {
    return index * static_cast<std::int64_t>(x.element_size());
}

void forward(const at::Tensor& x, const at::Tensor& y) {
    const auto* const kernels = attention::elementwise_kernels();
    const auto* const from = static_cast<const char*>(x.const_data_ptr());
    auto* const to = static_cast<char*>(y.mutable_data_ptr());
    at::parallel_for(0, x.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
        kernels->gelu_tanh(from + byte(x, begin), to + byte(x, begin), end - begin, is_half(x));
    });
}

class GeluTanh : public torch::autograd::Function<GeluTanh> {
public:
    static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
        const at::Tensor contiguous = x.contiguous();
        at::Tensor y = at::empty_like(contiguous);
        model::forward(contiguous, y);
        context->save_for_backward({contiguous});
        return y;
    }
    static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                   const torch::autograd::variable_list& gradients) {
        const at::Tensor x = context->get_saved_variables()[0],
                         dy = gradients[0].to(x.scalar_type()).contiguous();
        at::Tensor dx = at::empty_like(x);
        const auto* const kernels = attention::elementwise_kernels();
        const auto* const from = static_cast<const char*>(x.const_data_ptr());
        const auto* const slope = static_cast<const char*>(dy.const_data_ptr());
        auto* const to = static_cast<char*>(dx.mutable_data_ptr());
        at::parallel_for(0, x.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
            const std::int64_t at = byte(x, begin);
            kernels->gelu_tanh_backward(slope + at, from + at, to + at, end - begin, is_half(x));
        });
        return {dx};
    }
};

}  // namespace

at::Tensor gelu_tanh(const at::Tensor& x) {
    if (!has_kernel(x)) return at::gelu(x, "tanh");
    if (at::GradMode::is_enabled() && x.requires_grad()) return GeluTanh::apply(x);
    at::Tensor y = x.is_contiguous() && !x.requires_grad() ? x : x.contiguous().clone();
    forward(y, y);
    return y;
}

}  // namespace bigbird::model
