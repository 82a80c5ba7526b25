// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/fused_steps.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/model/device/device.hpp"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>

namespace bigbird::model {

namespace {

namespace cuda = attention::cuda;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

/// Number of thread blocks that sum gradients of parameters, each over separate rows. It does not depend on
/// the GPU, so that sums are bit-identical.
constexpr std::int64_t most_parts = 528, rows_a_part = 16;

std::int32_t parts_for(std::int64_t rows) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(rows / rows_a_part, 1, most_parts));
}

at::Tensor in_type(const at::Tensor& x, at::ScalarType type) {
    return x.detach().to(type).contiguous();
}
at::Tensor as_floats(const at::Tensor& parameter) {
    return parameter.detach().to(at::kFloat).contiguous();
}
at::Tensor floats_like(const at::Tensor& x, at::IntArrayRef shape) {
    return at::empty(shape, x.options().dtype(at::kFloat).requires_grad(false));
}

/// A dropout in the kernels' form; its streams exist as long as this object.
struct DeviceDropout {
    at::Tensor streams;  // (samples) int64, or undefined
    double probability = 0;

    DeviceDropout() = default;
    DeviceDropout(const FusedDropout& dropout, std::int64_t samples, const at::Device& device)
        : probability(dropout.probability) {
        if (probability > 0) {
            const std::vector<std::int64_t> numbers = dropout_streams(samples, dropout.key, dropout.site);
            streams = copy_to_device(at::tensor(numbers, at::kLong), device);
        }
    }
    cuda::Dropout describe(std::int64_t rows) const {
        if (!streams.defined()) return {};
        return {streams.const_data_ptr<std::int64_t>(), static_cast<std::int32_t>(rows / streams.numel()),
                static_cast<std::uint32_t>(probability * 0x1p32),
                static_cast<float>(1.0 / (1.0 - probability))};
    }
};

/// A norm's inputs, and the values kept for its backward pass.
struct Norm {
    at::Tensor weight = {}, bias = {};  // float
    DeviceDropout dropout = {};
    double epsilon = 0;
    at::Tensor sum = {}, mean = {}, inverse = {};  // undefined if nothing is differentiated

    cuda::NormArguments arguments(std::int64_t rows, at::ScalarType type) const {
        cuda::NormArguments a;
        a.element = attention::element_of(type);
        a.rows = static_cast<std::int32_t>(rows);
        a.columns = static_cast<std::int32_t>(weight.numel());
        a.epsilon = static_cast<float>(epsilon);
        a.dropout = dropout.describe(rows);
        a.weight = weight.const_data_ptr<float>();
        a.bias = bias.const_data_ptr<float>();
        if (sum.defined()) {
            a.sum = sum.mutable_data_ptr();
            a.mean = mean.mutable_data_ptr<float>();
            a.inverse = inverse.mutable_data_ptr<float>();
        }
        return a;
    }
    void keep_for_backward(const at::Tensor& like, std::int64_t rows) {
        sum = at::empty_like(like);
        mean = floats_like(like, {rows});
        inverse = floats_like(like, {rows});
    }
};

struct NormGradients {
    at::Tensor d_x, d_sum, d_weight, d_bias;
};

/// d_x undefined if it is d_sum.
NormGradients norm_backward(const Norm& norm, const at::Tensor& d_y) {
    const at::Tensor slope = in_type(d_y, norm.sum.scalar_type());
    const std::int64_t rows = norm.mean.numel(), columns = norm.weight.numel();
    cuda::NormArguments a = norm.arguments(rows, slope.scalar_type());
    NormGradients out{{}, at::empty_like(slope), at::empty_like(norm.weight), at::empty_like(norm.weight)};
    if (norm.dropout.streams.defined()) {
        out.d_x = at::empty_like(slope);
        a.d_x = out.d_x.mutable_data_ptr();
    }
    a.part_count = parts_for(rows);
    const at::Tensor parts = floats_like(slope, {a.part_count, 2, columns});
    a.d_y = slope.const_data_ptr();
    a.d_sum = out.d_sum.mutable_data_ptr();
    a.d_weight = out.d_weight.mutable_data_ptr<float>();
    a.d_bias = out.d_bias.mutable_data_ptr<float>();
    a.parts = parts.mutable_data_ptr<float>();
    attention::run_kernels(slope.device(), "the kernels of layer norms",
                           [&](void* stream) { return cuda::kernel_library().norm_backward(a, stream); });
    return out;
}

void save(AutogradContext* context, const Norm& norm, variable_list more) {
    more.insert(more.begin(), {norm.weight, norm.bias, norm.sum, norm.mean, norm.inverse});
    context->saved_data["streams"] = norm.dropout.streams;
    context->saved_data["probability"] = norm.dropout.probability;
    context->save_for_backward(std::move(more));
}
Norm restore(AutogradContext* context, const variable_list& saved) {
    Norm norm{.weight = saved[0], .bias = saved[1], .sum = saved[2], .mean = saved[3], .inverse = saved[4]};
    norm.dropout.streams = context->saved_data["streams"].toTensor();
    norm.dropout.probability = context->saved_data["probability"].toDouble();
    return norm;
}

Norm describe(const at::Tensor& weight, const at::Tensor& bias, double epsilon, const FusedDropout& dropout,
              std::int64_t samples) {
    Norm norm{.weight = as_floats(weight), .bias = as_floats(bias), .epsilon = epsilon};
    norm.dropout = DeviceDropout(dropout, samples, weight.device());
    return norm;
}

void norm_forward(const cuda::NormArguments& arguments, const at::Device& device) {
    attention::run_kernels(
        device, "the kernels of layer norms",
        [&](void* stream) { return cuda::kernel_library().norm_forward(arguments, stream); });
}

class FusedNorm : public torch::autograd::Function<FusedNorm> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x,
                              const std::optional<at::Tensor>& residual, const at::Tensor& weight,
                              const at::Tensor& bias, double epsilon, const FusedDropout& dropout,
                              at::ScalarType type, bool differentiate) {
        const at::Tensor in = in_type(x, type), rest = residual ? in_type(*residual, type) : at::Tensor();
        Norm norm = describe(weight, bias, epsilon, dropout, x.size(0));
        const std::int64_t rows = x.numel() / weight.numel();
        const at::Tensor y = at::empty_like(in);
        if (differentiate) norm.keep_for_backward(in, rows);
        cuda::NormArguments a = norm.arguments(rows, type);
        a.x = in.const_data_ptr();
        a.residual = rest.defined() ? rest.const_data_ptr() : nullptr;
        a.y = y.mutable_data_ptr();
        norm_forward(a, x.device());
        if (differentiate) {
            save(context, norm, {});
            context->saved_data["x"] = x.scalar_type();
            if (residual) context->saved_data["residual"] = residual->scalar_type();
            context->saved_data["parameters"] = weight.scalar_type();
        }
        return y;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const Norm norm = restore(context, context->get_saved_variables());
        const NormGradients out = norm_backward(norm, gradients[0]);
        const auto type = [&](const char* of) { return context->saved_data[of].toScalarType(); };
        return {(out.d_x.defined() ? out.d_x : out.d_sum).to(type("x")),
                context->saved_data.count("residual") > 0 ? out.d_sum.to(type("residual")) : at::Tensor(),
                out.d_weight.to(type("parameters")),
                out.d_bias.to(type("parameters")),
                {},
                {},
                {},
                {}};
    }
};

class FusedEmbeddingNorm : public torch::autograd::Function<FusedEmbeddingNorm> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& words, const at::Tensor& positions,
                              const at::Tensor& token_types, const at::Tensor& weight, const at::Tensor& bias,
                              const EmbeddingTables& tables, double epsilon, const FusedDropout& dropout,
                              at::ScalarType type, bool differentiate) {
        const at::Tensor ids = tables.ids.contiguous(), types = tables.types.contiguous();
        const at::Tensor of_words = as_floats(words), of_positions = as_floats(positions),
                         of_types = as_floats(token_types);
        Norm norm = describe(weight, bias, epsilon, dropout, ids.size(0));
        const at::Tensor y = at::empty({ids.size(0), ids.size(1), weight.numel()},
                                       weight.options().dtype(type).requires_grad(false));
        if (differentiate) norm.keep_for_backward(y, ids.numel());
        cuda::NormArguments a = norm.arguments(ids.numel(), type);
        a.gather = {ids.const_data_ptr<std::int64_t>(),
                    types.const_data_ptr<std::int64_t>(),
                    of_words.const_data_ptr<float>(),
                    of_types.const_data_ptr<float>(),
                    of_positions.const_data_ptr<float>(),
                    static_cast<std::int32_t>(ids.size(1)),
                    static_cast<std::int32_t>(positions.size(0)),
                    static_cast<float>(tables.word_scale)};
        a.y = y.mutable_data_ptr();
        norm_forward(a, y.device());
        if (differentiate) {
            save(context, norm, {ids, types});
            context->saved_data["words"] = words.size(0);
            context->saved_data["positions"] = positions.size(0);
            context->saved_data["token_types"] = token_types.size(0);
            context->saved_data["scale"] = tables.word_scale;
            context->saved_data["padding"] = tables.padding;
            context->saved_data["parameters"] = words.scalar_type();
        }
        return y;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const variable_list saved = context->get_saved_variables();
        const Norm norm = restore(context, saved);
        const NormGradients out = norm_backward(norm, gradients[0]);
        const auto number = [&](const char* of) { return context->saved_data[of].toInt(); };
        const at::ScalarType type = context->saved_data["parameters"].toScalarType();
        // Sums over the batch are computed in float.
        const at::Tensor d_x = (out.d_x.defined() ? out.d_x : out.d_sum).to(at::kFloat);
        const at::Tensor &ids = saved[5], &types = saved[6];
        at::Tensor d_words =
            at::embedding_dense_backward(d_x, ids, number("words"), number("padding"), false);
        if (const double scale = context->saved_data["scale"].toDouble(); scale != 1.0) d_words.mul_(scale);
        const std::int64_t count = std::min(number("positions"), ids.size(1));
        at::Tensor d_positions = at::zeros({number("positions"), d_x.size(2)}, d_x.options());
        d_positions.narrow(0, 0, count).copy_(d_x.narrow(1, 0, count).sum(0));
        const at::Tensor d_types = at::embedding_dense_backward(d_x, types, number("token_types"), -1, false);
        return {d_words.to(type),
                d_positions.to(type),
                d_types.to(type),
                out.d_weight.to(type),
                out.d_bias.to(type),
                {},
                {},
                {},
                {},
                {}};
    }
};

class FusedBiasGelu : public torch::autograd::Function<FusedBiasGelu> {
public:
    static at::Tensor forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& bias,
                              at::ScalarType type) {
        const at::Tensor in = in_type(x, type), shift = as_floats(bias), y = at::empty_like(in);
        cuda::GeluArguments a = arguments_of(in, shift);
        a.y = y.mutable_data_ptr();
        attention::run_kernels(x.device(), "the kernels of gelu",
                               [&](void* stream) { return cuda::kernel_library().gelu_forward(a, stream); });
        context->save_for_backward({in, shift});
        context->saved_data["x"] = x.scalar_type();
        context->saved_data["bias"] = bias.scalar_type();
        return y;
    }
    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor &x = saved[0], &bias = saved[1], slope = in_type(gradients[0], x.scalar_type());
        const at::Tensor d_x = at::empty_like(x), d_bias = at::empty_like(bias);
        cuda::GeluArguments a = arguments_of(x, bias);
        a.part_count = parts_for(a.rows);
        const at::Tensor parts = floats_like(x, {a.part_count, a.columns});
        a.d_y = slope.const_data_ptr();
        a.d_x = d_x.mutable_data_ptr();
        a.d_bias = d_bias.mutable_data_ptr<float>();
        a.parts = parts.mutable_data_ptr<float>();
        attention::run_kernels(x.device(), "the kernels of gelu",
                               [&](void* stream) { return cuda::kernel_library().gelu_backward(a, stream); });
        return {d_x.to(context->saved_data["x"].toScalarType()),
                d_bias.to(context->saved_data["bias"].toScalarType()),
                {}};
    }

private:
    static cuda::GeluArguments arguments_of(const at::Tensor& x, const at::Tensor& bias) {
        cuda::GeluArguments a;
        a.element = attention::element_of(x.scalar_type());
        a.columns = static_cast<std::int32_t>(bias.numel());
        a.rows = static_cast<std::int32_t>(x.numel() / bias.numel());
        a.x = x.const_data_ptr();
        a.bias = bias.const_data_ptr<float>();
        return a;
    }
};

}  // namespace

std::optional<at::ScalarType> fused_type(const at::Tensor& parameter, attention::Backend backend,
                                         std::int64_t columns) {
    const at::DeviceType device = parameter.device().type();
    const bool chosen = backend == attention::Backend::fused || backend == attention::Backend::fused_hopper;
    if (!cuda::kernels_serve(parameter.is_cuda()) || columns % 8 != 0 || columns > cuda::largest_norm)
        return {};
    const at::ScalarType type = at::autocast::is_autocast_enabled(device)
                                    ? at::autocast::get_autocast_dtype(device)
                                    : parameter.scalar_type();
    const bool best = backend == attention::Backend::automatic &&
                      attention::best_kernels(parameter.device(), type, cuda::tile_tokens).has_value();
    return (chosen || best) && attention::is_half(type) ? std::optional(type) : std::nullopt;
}

at::Tensor fused_norm(const at::Tensor& x, const at::Tensor& residual, const LayerNormImpl& norm,
                      const FusedDropout& dropout, at::ScalarType type) {
    const bool differentiate = at::GradMode::is_enabled();
    const auto rest = residual.defined() ? std::optional(residual) : std::nullopt;
    return FusedNorm::apply(x, rest, norm.weight, norm.bias, norm.epsilon(), dropout, type, differentiate);
}

at::Tensor fused_embedding_norm(const EmbeddingTables& tables, const LayerNormImpl& norm,
                                const FusedDropout& dropout, at::ScalarType type) {
    const bool differentiate = at::GradMode::is_enabled();
    return FusedEmbeddingNorm::apply(tables.words, tables.positions, tables.token_types, norm.weight,
                                     norm.bias, tables, norm.epsilon(), dropout, type, differentiate);
}

at::Tensor fused_bias_gelu(const at::Tensor& x, const at::Tensor& bias, at::ScalarType type) {
    return FusedBiasGelu::apply(x, bias, type);
}

}  // namespace bigbird::model
