// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/layers.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/model/layers/gelu.hpp"
#include "bigbird/model/layers/onednn_linear.hpp"

#include <ATen/ATen.h>

#include <vector>

namespace bigbird::model {

namespace {

/// x, or a copy of it whose rows begin at whole cache lines: MKL adds up a row in an order that depends on
/// where it begins.
at::Tensor with_aligned_rows(const at::Tensor& x) {
    constexpr std::int64_t line = 64;
    const std::int64_t unit = line / x.element_size(), width = x.size(-1);
    if (at::GradMode::is_enabled() || !x.is_cpu() || x.dim() < 2 || width % unit == 0) return x;
    std::vector<std::int64_t> shape = x.sizes().vec();
    shape.back() = (width + unit - 1) / unit * unit;
    return at::empty(shape, x.options()).narrow(-1, 0, width).copy_(x);
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (has_fast_onednn_training(x)) return onednn_trained_linear(x, weight, bias);
    if (has_onednn_linear(x)) return onednn_linear(x, weight, bias);
    return at::linear(with_aligned_rows(x), weight, bias);
}

LinearImpl::LinearImpl(std::int64_t in, std::int64_t out, bool with_bias) {
    weight = register_parameter("weight", at::zeros({out, in}));
    if (with_bias) {
        bias = register_parameter("bias", at::zeros({out}));
    }
}

at::Tensor LinearImpl::forward(const at::Tensor& x) const {
    return linear(x, weight, bias);
}

at::Tensor LinearImpl::forward_and_activate(const at::Tensor& x, const std::string& activation) const {
    return has_onednn_linear(x) ? onednn_linear(x, weight, bias, activation)
                                : model::activation(activation, forward(x));
}

at::Tensor LinearImpl::forward_and_add(const at::Tensor& x, const at::Tensor& other) const {
    if (has_onednn_linear(x)) {
        return onednn_linear_add(x, weight, bias, other);
    }
    const at::Tensor y = forward(x);
    return at::GradMode::is_enabled() ? y + other : y.add_(other);
}

LayerNormImpl::LayerNormImpl(std::int64_t size, double epsilon) : size_(size), epsilon_(epsilon) {
    weight = register_parameter("weight", at::ones({size}));
    bias = register_parameter("bias", at::zeros({size}));
}

at::Tensor LayerNormImpl::forward(const at::Tensor& x) const {
    return at::layer_norm(x, {size_}, weight, bias, epsilon_);
}

EmbeddingImpl::EmbeddingImpl(std::int64_t count, std::int64_t size, std::int64_t padding)
    : padding_(padding) {
    weight = register_parameter("weight", at::zeros({count, size}));
}

at::Tensor EmbeddingImpl::forward(const at::Tensor& ids) const {
    return at::embedding(weight, ids, padding_);
}

at::Tensor activation(const std::string& name, const at::Tensor& x) {
    if (name == "gelu_new" || name == "gelu_pytorch_tanh") return gelu_tanh(x);
    if (name == "gelu") return at::gelu(x);
    if (name == "relu") return at::relu(x);
    BIGBIRD_EXPECTS(name == "silu" || name == "swish", "unknown activation " + name);
    return at::silu(x);
}

}  // namespace bigbird::model
