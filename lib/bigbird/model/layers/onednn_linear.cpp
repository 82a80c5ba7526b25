// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/onednn_linear.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/system/processor.hpp"

#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <algorithm>
#include <optional>
#include <utility>

namespace bigbird::model {

namespace {

/// Terms of a float sum that oneDNN may add up one after the other: with 3,072 errors are twice MKL's, which
/// adds parts.
constexpr std::int64_t longest_sum = 1024;

using Scalars = c10::List<std::optional<at::Scalar>>;
using Linear = at::Tensor(const at::Tensor&, const at::Tensor&, const std::optional<at::Tensor>&,
                          std::string_view, Scalars, std::optional<std::string_view>);
using LinearAdd = at::Tensor(const at::Tensor&, const at::Tensor&, const at::Tensor&,
                             const std::optional<at::Tensor>&, std::string_view);

bool has_operators() {
    auto& dispatcher = c10::Dispatcher::singleton();
    return at::globalContext().hasMKLDNN() &&
           dispatcher.findSchema({"mkldnn::_linear_pointwise", ""}).has_value() &&
           dispatcher.findSchema({"mkldnn::_linear_pointwise", "binary"}).has_value();
}

thread_local bool as_with_gradients = false;

std::optional<at::Tensor> optional(const at::Tensor& bias) {
    return bias.defined() ? std::optional(bias) : std::nullopt;
}

}  // namespace

bool has_onednn_linear(const at::Tensor& x) {
    static const bool operators = has_operators(), bf16 = bigbird::has_bf16_instructions();
    const at::ScalarType type = x.scalar_type();
    return operators && x.device().is_cpu() &&
           ((type == at::kFloat && x.size(-1) <= longest_sum) || (type == at::kBFloat16 && bf16)) &&
           !at::GradMode::is_enabled() && !as_with_gradients && !at::autocast::is_autocast_enabled(at::kCPU);
}

AsWithGradients::AsWithGradients() : before_(std::exchange(as_with_gradients, true)) {}

AsWithGradients::~AsWithGradients() {
    as_with_gradients = before_;
}

at::Tensor onednn_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         const std::string& activation) {
    BIGBIRD_EXPECTS(has_onednn_linear(x), "oneDNN cannot take this");
    static const auto linear =
        c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_linear_pointwise", "").typed<Linear>();
    const bool is_gelu = activation.starts_with("gelu");
    const std::string_view function = activation.empty()     ? "none"
                                      : is_gelu              ? "gelu"
                                      : activation == "silu" ? "swish"
                                                             : std::string_view(activation);
    const std::string_view algorithm = !is_gelu ? "" : activation == "gelu" ? "none" : "tanh";
    return linear.call(x, weight, optional(bias), function, Scalars(), algorithm);
}

at::Tensor onednn_linear_add(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             const at::Tensor& other) {
    BIGBIRD_EXPECTS(has_onednn_linear(x), "oneDNN cannot take this");
    static const auto linear = c10::Dispatcher::singleton()
                                   .findSchemaOrThrow("mkldnn::_linear_pointwise", "binary")
                                   .typed<LinearAdd>();
    return linear.call(x, other, weight, optional(bias), "add");
}

at::Tensor onednn_feed_forward(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                               const std::string& activation, const at::Tensor& next_weight,
                               const at::Tensor& next_bias, const at::Tensor& other) {
    const std::int64_t inner = weight.size(0);
    const std::int64_t part = x.scalar_type() == at::kFloat ? std::min(inner, longest_sum) : inner;
    at::Tensor sum = other;
    for (std::int64_t first = 0; first < inner; first += part) {
        const std::int64_t count = std::min(part, inner - first);
        const at::Tensor features =
            onednn_linear(x, weight.narrow(0, first, count),
                          bias.defined() ? bias.narrow(0, first, count) : bias, activation);
        // Contiguous: oneDNN takes columns of a wider matrix a hundred times as slowly.
        sum = onednn_linear_add(features, next_weight.narrow(1, first, count).contiguous(),
                                first == 0 ? next_bias : at::Tensor(), sum);
    }
    return sum;
}

}  // namespace bigbird::model
