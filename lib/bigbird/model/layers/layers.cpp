// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/layers.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/model/files/config.hpp"
#include "bigbird/model/layers/gelu.hpp"
#include "bigbird/model/layers/onednn_linear.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>

namespace bigbird::model {

namespace {

/// Products with more rows than this are computed by libraries; scores come from groups with fewer rows.
constexpr std::int64_t most_single_rows = 64;

/// Whether rows are computed one by one: (rows, in), without gradients, on a CPU. MKL and oneDNN choose the
/// order of a sum by the row's index, and differently for each processor.
bool has_single_rows(const at::Tensor& x) {
    const at::ScalarType type = x.scalar_type();
    return x.is_cpu() && x.dim() == 2 && x.size(0) <= most_single_rows && !at::GradMode::is_enabled() &&
           (type == at::kFloat || type == at::kBFloat16);
}

/// The dot product of `size` numbers. The order of additions depends only on `size`.
float dot(const float* a, const float* b, std::int64_t size) {
    constexpr std::int64_t lanes = 32;
    std::array<float, lanes> sums{};
    std::int64_t i = 0;
    for (; i + lanes <= size; i += lanes)
        for (std::int64_t lane = 0; lane < lanes; ++lane)
            sums[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
    for (std::int64_t lane = 0; i + lane < size; ++lane)
        sums[static_cast<std::size_t>(lane)] += a[i + lane] * b[i + lane];
    for (std::size_t half = lanes / 2; half > 0; half /= 2)
        for (std::size_t lane = 0; lane < half; ++lane)
            sums[lane] += sums[lane + half];
    return sums[0];
}

at::Tensor linear_by_rows(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    const at::Tensor in = x.to(at::kFloat).contiguous(), by = weight.to(at::kFloat).contiguous();
    const std::int64_t rows = in.size(0), width = in.size(1), out = by.size(0);
    at::Tensor y = at::empty({rows, out}, in.options());
    const auto *const features = in.const_data_ptr<float>(), *const weights = by.const_data_ptr<float>();
    auto* const sums = y.mutable_data_ptr<float>();
    constexpr std::int64_t work_of_a_thread = 1 << 15;
    const std::int64_t grain = work_of_a_thread / std::max<std::int64_t>(1, rows * width) + 1;
    at::parallel_for(0, out, grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t to = begin; to < end; ++to)
            for (std::int64_t row = 0; row < rows; ++row)
                sums[row * out + to] = dot(features + row * width, weights + to * width, width);
    });
    if (bias.defined()) y.add_(bias);
    return y.to(x.scalar_type());
}

}  // namespace

at::Tensor linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    if (has_fast_onednn_training(x)) return onednn_trained_linear(x, weight, bias);
    if (has_single_rows(x)) return linear_by_rows(x, weight, bias);
    if (has_onednn_linear(x)) return onednn_linear(x, weight, bias);
    return at::linear(x, weight, bias);
}

LinearImpl::LinearImpl(std::int64_t in, std::int64_t out, bool with_bias) {
    weight = register_parameter("weight", at::zeros({out, in}));
    if (with_bias) bias = register_parameter("bias", at::zeros({out}));
}

at::Tensor LinearImpl::forward(const at::Tensor& x) const {
    return linear(x, weight, bias);
}

at::Tensor LinearImpl::forward_and_activate(const at::Tensor& x, const std::string& activation) const {
    return has_onednn_linear(x) && !has_single_rows(x) ? onednn_linear(x, weight, bias, activation)
                                                       : model::activation(activation, forward(x));
}

at::Tensor LinearImpl::forward_and_add(const at::Tensor& x, const at::Tensor& other) const {
    if (has_onednn_linear(x) && !has_single_rows(x)) return onednn_linear_add(x, weight, bias, other);
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
