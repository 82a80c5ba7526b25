// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/layers.hpp"

#include "bigbird/attention/cpu/fused_kernel.hpp"
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/core/check.hpp"
#include "bigbird/model/layers/adapted_linear.hpp"
#include "bigbird/model/layers/onednn_linear.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace bigbird::model {

namespace {

double base_of(const RotaryForm& form, std::int64_t head_dim) {
    if (form.scaling != RopeScaling::ntk) return form.theta;
    const auto size = static_cast<double>(head_dim);
    return form.theta * std::pow(form.factor, size / (size - 2));
}

}  // namespace

RotaryTable rotary_table(std::int64_t positions, std::int64_t head_dim, const at::Device& device,
                         const RotaryForm& form) {
    const auto options = at::TensorOptions().dtype(at::kDouble);
    const at::Tensor exponent =
        at::arange(0, head_dim, 2, options) / static_cast<double>(head_dim);  // (head_dim / 2)
    const double stretch = form.scaling == RopeScaling::linear ? form.factor : 1;
    const at::Tensor position = at::arange(positions, options) / stretch;
    const at::Tensor angle = position.unsqueeze(1) * at::pow(base_of(form, head_dim), -exponent).unsqueeze(0);
    return {angle.cos().to(device, at::kFloat), angle.sin().to(device, at::kFloat)};
}

RotaryTable KeptRotaryTable::at_least(std::int64_t positions, std::int64_t head_dim,
                                      const at::Device& device) {
    const std::lock_guard lock(mutex_);
    if (!table_.cosine.defined() || table_.cosine.size(0) < positions)
        table_ = rotary_table(positions, head_dim, device);
    return table_;
}

at::Tensor rotate(const at::Tensor& x, const RotaryTable& table) {
    const std::int64_t half = x.size(3) / 2, positions = x.size(2);
    const at::Tensor a = x.narrow(3, 0, half), b = x.narrow(3, half, half);
    const auto angles = [&](const at::Tensor& of) {
        return (of.dim() == 2 ? of.narrow(0, 0, positions) : of).to(x.scalar_type());
    };
    const at::Tensor cosine = angles(table.cosine), sine = angles(table.sine);
    return at::cat({a * cosine - b * sine, b * cosine + a * sine}, 3);
}

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

void gelu_forward(const at::Tensor& x, const at::Tensor& y) {
    const auto* const kernels = attention::elementwise_kernels();
    const auto* const from = static_cast<const char*>(x.const_data_ptr());
    auto* const to = static_cast<char*>(y.mutable_data_ptr());
    at::parallel_for(0, x.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
        kernels->gelu_tanh(from + byte(x, begin), to + byte(x, begin), end - begin, is_half(x));
    });
}

/// The gradient of contiguous x.
at::Tensor gelu_slope(const at::Tensor& x, const at::Tensor& gradient) {
    const at::Tensor dy = gradient.to(x.scalar_type()).contiguous(), dx = at::empty_like(x);
    const auto* const kernels = attention::elementwise_kernels();
    const auto* const from = static_cast<const char*>(x.const_data_ptr());
    const auto* const slope = static_cast<const char*>(dy.const_data_ptr());
    auto* const to = static_cast<char*>(dx.mutable_data_ptr());
    at::parallel_for(0, x.numel(), grain, [&](std::int64_t begin, std::int64_t end) {
        const std::int64_t at = byte(x, begin);
        kernels->gelu_tanh_backward(slope + at, from + at, to + at, end - begin, is_half(x));
    });
    return dx;
}

}  // namespace

at::Tensor gelu_tanh(const at::Tensor& x) {
    if (!has_kernel(x)) return at::gelu(x, "tanh");
    if (at::GradMode::is_enabled() && x.requires_grad()) {
        const at::Tensor in = x.detach().contiguous(), y = at::empty_like(in);
        gelu_forward(in, y);
        set_gradient({y}, {x},
                     [in](const Tensors& gradients) -> Tensors { return {gelu_slope(in, gradients[0])}; });
        return y;
    }
    at::Tensor y = x.is_contiguous() && !x.requires_grad() ? x : x.contiguous().clone();
    gelu_forward(y, y);
    return y;
}

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
    const std::int64_t columns = work_of_a_thread / std::max<std::int64_t>(1, rows * width) + 1;
    at::parallel_for(0, out, columns, [&](std::int64_t begin, std::int64_t end) {
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

void LinearImpl::adapt(const LoraForm& form, const at::Tensor& a, std::int64_t site) {
    BIGBIRD_EXPECTS(a.size(0) == form.rank && a.size(1) == weight.size(1), "A has rank rows");
    lora_a = register_parameter("lora_A", a);
    lora_b = register_parameter(
        "lora_B", at::zeros({weight.size(0), form.rank}, weight.options().requires_grad(false)));
    lora_ = form;
    site_ = site;
}

void LinearImpl::adapt_like(const LinearImpl& other) {
    if (other.is_adapted()) adapt(other.lora_, at::zeros(other.lora_a.sizes()), other.site_);
}

at::Tensor LinearImpl::merged_weight() const {
    return is_adapted() ? weight + at::mm(lora_b, lora_a) * lora_.scale() : weight;
}

at::Tensor LinearImpl::forward(const at::Tensor& x) const {
    if (!is_adapted()) return linear(x, weight, bias);
    Adapter adapter{lora_a, lora_b, lora_.scale()};
    const DropoutKey* const key = LoraDropout::current();
    if (is_training() && lora_.dropout > 0 && key != nullptr)
        adapter.drop = [key = *key, probability = lora_.dropout, site = site_](const at::Tensor& in) {
            return dropout(in, probability, key, {DropoutSite::Place::adapter, site});
        };
    return has_adapted_linear(x) ? adapted_linear(x, weight, bias, adapter)
                                 : plain_adapted_linear(x, weight, bias, adapter);
}

at::Tensor LinearImpl::forward_and_activate(const at::Tensor& x, const std::string& activation) const {
    return has_onednn_linear(x) && !has_single_rows(x) && !is_adapted()
               ? onednn_linear(x, weight, bias, activation)
               : model::activation(activation, forward(x));
}

at::Tensor LinearImpl::forward_and_add(const at::Tensor& x, const at::Tensor& other) const {
    if (has_onednn_linear(x) && !has_single_rows(x) && !is_adapted())
        return onednn_linear_add(x, weight, bias, other);
    const at::Tensor y = forward(x);
    return at::GradMode::is_enabled() ? y + other : y.add_(other);
}

LoraDropout::LoraDropout(const DropoutKey& key) : before_(std::exchange(current(), &key)) {}

LoraDropout::~LoraDropout() {
    current() = before_;
}

const DropoutKey*& LoraDropout::current() {
    thread_local const DropoutKey* key = nullptr;
    return key;
}

LayerNormImpl::LayerNormImpl(std::int64_t size, double norm_epsilon, bool with_bias) : epsilon(norm_epsilon) {
    weight = register_parameter("weight", at::ones({size}));
    if (with_bias) bias = register_parameter("bias", at::zeros({size}));
}

at::Tensor LayerNormImpl::forward(const at::Tensor& x) const {
    return at::layer_norm(x, weight.sizes(), weight, bias, epsilon);
}

EmbeddingImpl::EmbeddingImpl(std::int64_t count, std::int64_t size, std::int64_t padding_row)
    : padding(padding_row) {
    weight = register_parameter("weight", at::zeros({count, size}));
}

at::Tensor EmbeddingImpl::forward(const at::Tensor& ids) const {
    return at::embedding(weight, ids, padding);
}

std::shared_ptr<torch::nn::Module> add_group(torch::nn::Module& parent, const std::string& name) {
    return parent.register_module(name, std::make_shared<torch::nn::Module>(name));
}

at::Tensor activation(const std::string& name, const at::Tensor& x) {
    if (name == "gelu_new" || name == "gelu_pytorch_tanh") return gelu_tanh(x);
    if (name == "gelu") return at::gelu(x);
    if (name == "relu") return at::relu(x);
    BIGBIRD_EXPECTS(name == "silu" || name == "swish", "unknown activation " + name);
    return at::silu(x);
}

}  // namespace bigbird::model
