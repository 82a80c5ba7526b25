// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/onednn_linear.hpp"

#include "bigbird/core/check.hpp"
#include "bigbird/core/system/processor.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/ATen.h>
#include <ATen/Context.h>
#include <ATen/autocast_mode.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <torch/csrc/autograd/function.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

namespace bigbird::model {

namespace {

/// Maximum number of terms that oneDNN may add sequentially in a float sum: with 3,072 terms, errors are
/// twice those of MKL, which adds sums in parts.
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

bool has_operators_for(const at::Tensor& x) {
    static const bool operators = has_operators();
    return operators && x.device().is_cpu() && !at::autocast::is_autocast_enabled(at::kCPU);
}

bool is_as_with_gradients() {
    return at::GradMode::is_enabled() || as_with_gradients;
}

/// function(x W^T + b), the function by oneDNN's names.
at::Tensor product(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                   std::string_view function = "none", std::string_view algorithm = "") {
    static const auto linear =
        c10::Dispatcher::singleton().findSchemaOrThrow("mkldnn::_linear_pointwise", "").typed<Linear>();
    return linear.call(x, weight, optional(bias), function, Scalars(), algorithm);
}

/// Joins the results of compute(x, other) over the samples of x, (batch, length, in), and of `other`, which
/// may be undefined. With AVX2, oneDNN's order of additions for a row depends on the row's index, so samples
/// are computed by separate, equal calls; otherwise together.
template <typename Compute>
at::Tensor by_sample(const at::Tensor& x, const at::Tensor& other, const Compute& compute) {
    static const bool together = bigbird::instruction_set() >= bigbird::InstructionSet::avx512;
    if (together || x.dim() != 3 || x.size(0) < 2) return compute(x, other);
    std::vector<at::Tensor> samples;
    for (std::int64_t i = 0; i < x.size(0); ++i)
        samples.push_back(compute(x.narrow(0, i, 1), other.defined() ? other.narrow(0, i, 1) : other));
    return at::cat(samples);
}

/// A matrix in memory column by column, in this thread's buffer, which the next call overwrites. For such a
/// weight, oneDNN uses another algorithm, which needs a copy: it adds long sums in parts, and caches a tenth
/// of the memory for each new number of rows. One buffer for all copies leaves no gaps among what is kept for
/// the backward pass.
at::Tensor copied_by_columns(const at::Tensor& matrix) {
    const at::Tensor columns = matrix.t();
    if (columns.is_contiguous()) return matrix;
    thread_local at::Tensor buffer;
    if (!buffer.defined() || buffer.numel() < matrix.numel())
        buffer = at::empty({matrix.numel()}, matrix.options());
    return buffer.narrow(0, 0, matrix.numel()).view(columns.sizes()).copy_(columns).t();
}

/// dy^T x, (out, in), of rows (n, out) and (n, in). oneDNN needs one of them transposed; it is the narrower
/// one.
at::Tensor weight_gradient(const at::Tensor& dy, const at::Tensor& x) {
    if (dy.size(1) <= x.size(1)) return product(dy.t(), x.t(), {});
    return product(x.t(), dy.t(), {}).t().contiguous();
}

}  // namespace

bool has_onednn_linear(const at::Tensor& x) {
    static const bool bf16 = bigbird::has_bf16_instructions();
    const at::ScalarType type = x.scalar_type();
    return has_operators_for(x) && !is_as_with_gradients() &&
           ((type == at::kFloat && x.size(-1) <= longest_sum) || (type == at::kBFloat16 && bf16));
}

bool has_onednn_training(const at::Tensor& x) {
    return has_operators_for(x) && is_as_with_gradients() && x.scalar_type() == at::kFloat && x.dim() == 3 &&
           x.numel() > 0;
}

bool has_fast_onednn_training(const at::Tensor& x) {
    static const bool is_mkl_slow =
        bigbird::instruction_set() >= bigbird::InstructionSet::avx2 && !bigbird::is_intel_processor();
    return is_mkl_slow && has_onednn_training(x);
}

at::Tensor onednn_trained_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias) {
    BIGBIRD_EXPECTS(has_onednn_training(x), "oneDNN cannot take this");
    const at::Tensor in = x.detach().contiguous(), by = weight.detach();
    const at::Tensor y = product(in, copied_by_columns(by), bias.defined() ? bias.detach() : bias);
    if (!at::GradMode::is_enabled()) return y;
    set_gradient({y}, {x, weight, bias},
                 [=, has_bias = bias.defined() && bias.requires_grad()](const Tensors& gradients) {
                     BIGBIRD_EXPECTS(!at::GradMode::is_enabled(), "no second derivatives");
                     const at::Tensor dy = gradients[0].contiguous(), rows = dy.flatten(0, -2);
                     const auto node = torch::autograd::get_current_node();
                     Tensors slopes(3);
                     if (node->task_should_compute_output(0)) slopes[0] = product(dy, by.t(), {});
                     if (node->task_should_compute_output(1))
                         slopes[1] = weight_gradient(rows, in.flatten(0, -2));
                     if (has_bias) slopes[2] = rows.sum(0);
                     return slopes;
                 });
    return y;
}

AsWithGradients::AsWithGradients() : before_(std::exchange(as_with_gradients, true)) {}

AsWithGradients::~AsWithGradients() {
    as_with_gradients = before_;
}

at::Tensor onednn_linear(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                         const std::string& activation) {
    BIGBIRD_EXPECTS(has_onednn_linear(x), "oneDNN cannot take this");
    const bool is_gelu = activation.starts_with("gelu");
    const std::string_view function = activation.empty()     ? "none"
                                      : is_gelu              ? "gelu"
                                      : activation == "silu" ? "swish"
                                                             : std::string_view(activation);
    const std::string_view algorithm = !is_gelu ? "" : activation == "gelu" ? "none" : "tanh";
    return by_sample(x, {}, [&](const at::Tensor& samples, const at::Tensor&) {
        return product(samples, weight, bias, function, algorithm);
    });
}

namespace {

/// x W^T + b `operation` other, "add" or "mul".
at::Tensor product_and(std::string_view operation, const at::Tensor& x, const at::Tensor& weight,
                       const at::Tensor& bias, const at::Tensor& other) {
    BIGBIRD_EXPECTS(has_onednn_linear(x), "oneDNN cannot take this");
    static const auto linear = c10::Dispatcher::singleton()
                                   .findSchemaOrThrow("mkldnn::_linear_pointwise", "binary")
                                   .typed<LinearAdd>();
    return by_sample(x, other, [&](const at::Tensor& samples, const at::Tensor& of_other) {
        return linear.call(samples, of_other, weight, optional(bias), operation);
    });
}

/// Rows of a tensor, or nothing of nothing.
at::Tensor rows_of(const at::Tensor& x, std::int64_t first, std::int64_t count) {
    return x.defined() ? x.narrow(0, first, count) : x;
}

}  // namespace

at::Tensor onednn_linear_add(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                             const at::Tensor& other) {
    return product_and("add", x, weight, bias, other);
}

at::Tensor onednn_feed_forward(const at::Tensor& x, const FeedForwardWeights& weights,
                               const std::string& activation, const at::Tensor& other) {
    const std::int64_t inner = weights.weight.size(0);
    const std::int64_t part = x.scalar_type() == at::kFloat ? std::min(inner, longest_sum) : inner;
    at::Tensor sum = other;
    for (std::int64_t first = 0; first < inner; first += part) {
        const std::int64_t count = std::min(part, inner - first);
        at::Tensor features = onednn_linear(x, rows_of(weights.weight, first, count),
                                            rows_of(weights.bias, first, count), activation);
        if (weights.gate.defined())
            features = product_and("mul", x, rows_of(weights.gate, first, count),
                                   rows_of(weights.gate_bias, first, count), features);
        // Contiguous, because oneDNN is a hundred times slower for columns of a wider matrix.
        sum = onednn_linear_add(features, weights.next.narrow(1, first, count).contiguous(),
                                first == 0 ? weights.next_bias : at::Tensor(), sum);
    }
    return sum;
}

namespace {

constexpr std::int64_t count = 3;

/// The type that at::linear would compute in.
at::ScalarType type_of_product(const at::Tensor& x) {
    const at::DeviceType device = x.device().type();
    const bool cast = at::autocast::is_autocast_enabled(device) && x.scalar_type() != at::kDouble;
    return cast ? at::autocast::get_autocast_dtype(device) : x.scalar_type();
}

/// Concatenates the rows of tensors of one shape, in `type`.
at::Tensor stacked(const std::array<at::Tensor, 3>& parts, at::ScalarType type) {
    std::vector<std::int64_t> shape = parts[0].sizes().vec();
    const std::int64_t rows = shape[0];
    shape[0] *= count;
    at::Tensor all = at::empty(shape, parts[0].options().dtype(type).requires_grad(false));
    for (std::int64_t i = 0; i < count; ++i)
        all.narrow(0, i * rows, rows).copy_(parts[static_cast<std::size_t>(i)]);
    return all;
}

/// Gradients of the parts as (rows, 3 out), in `type`.
at::Tensor packed(const Tensors& gradients, at::ScalarType type) {
    if (const at::Tensor all = side_by_side(gradients); all.defined() && all.scalar_type() == type)
        return all;
    Tensors parts;
    for (const at::Tensor& gradient : gradients)
        parts.push_back(gradient.to(type));
    return at::cat(parts, -1).flatten(0, -2);
}

/// Whether all rows of a tensor (…, columns) are equally spaced, at the distance of its second last stride.
bool has_even_rows(const at::Tensor& x) {
    for (std::int64_t i = 0; i + 2 < x.dim(); ++i)
        if (x.size(i) != 1 && x.stride(i) != x.stride(i + 1) * x.size(i + 1)) return false;
    return x.dim() >= 2 && x.stride(-1) == 1;
}

}  // namespace

std::array<at::Tensor, 3> packed_linear(const at::Tensor& x, const std::array<const LinearImpl*, 3>& layers) {
    BIGBIRD_EXPECTS(std::ranges::all_of(layers,
                                        [&](const LinearImpl* layer) {
                                            return layer->weight.sizes() == layers[0]->weight.sizes() &&
                                                   layer->bias.defined() == layers[0]->bias.defined();
                                        }),
                    "packed layers have one shape");
    const auto& [a, b, c] = layers;
    const bool differentiate = at::GradMode::is_enabled();
    const at::NoGradGuard no_gradients;
    const at::ScalarType type = type_of_product(x);
    const at::Tensor in = x.to(type), weight = stacked({a->weight, b->weight, c->weight}, type),
                     bias = a->bias.defined() ? stacked({a->bias, b->bias, c->bias}, type) : at::Tensor();
    const Tensors out = at::linear(in, weight, bias).chunk(count, -1);
    if (differentiate) {
        set_gradient(
            out, {x, a->weight, b->weight, c->weight, a->bias, b->bias, c->bias},
            [in, weight, has_bias = bias.defined()](const Tensors& gradients) {
                const at::Tensor slope = packed(gradients, in.scalar_type());  // (rows, 3 out)
                Tensors slopes{at::matmul(slope, weight).view(in.sizes())};
                std::ranges::copy(at::matmul(slope.t(), in.flatten(0, -2)).chunk(count),
                                  std::back_inserter(slopes));
                if (has_bias) std::ranges::copy(slope.sum(0).chunk(count), std::back_inserter(slopes));
                slopes.resize(1 + 2 * count);
                return slopes;
            });
    }
    return {out[0], out[1], out[2]};
}

at::Tensor side_by_side(const std::vector<at::Tensor>& parts) {
    const at::Tensor& first = parts[0];
    const auto all = static_cast<std::int64_t>(parts.size());
    const std::int64_t columns = first.size(-1);
    if (!has_even_rows(first) || first.stride(-2) != all * columns) return {};
    for (std::int64_t i = 1; i < all; ++i) {
        const at::Tensor& part = parts[static_cast<std::size_t>(i)];
        if (!part.is_alias_of(first) || part.scalar_type() != first.scalar_type() ||
            part.sizes() != first.sizes() || part.strides() != first.strides() ||
            part.storage_offset() != first.storage_offset() + i * columns)
            return {};
    }
    return first.as_strided({first.numel() / columns, all * columns}, {all * columns, 1},
                            first.storage_offset());
}

}  // namespace bigbird::model
