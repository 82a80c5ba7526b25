// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/fused_steps.hpp"

#include "bigbird/attention/backends.hpp"
#include "bigbird/attention/cuda/host/kernel_library.hpp"
#include "bigbird/model/device/device.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>

#include <algorithm>

namespace bigbird::model {

namespace {

namespace cuda = attention::cuda;

/// Number of thread blocks that sum gradients of parameters, each over separate rows. It does not depend on
/// the GPU, so that sums are bit-identical.
constexpr std::int64_t most_parts = 528, rows_per_part = 16;

std::int32_t parts_for(std::int64_t rows) {
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(rows / rows_per_part, 1, most_parts));
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

/// A norm's parameters, and the values kept for its backward pass.
struct KeptNorm {
    at::Tensor weight, bias;  // float
    double epsilon, probability;
    at::Tensor streams;             // of dropout: (samples) int64, or undefined
    at::Tensor sum, mean, inverse;  // undefined if nothing is differentiated

    /// `like`: the result, (samples, …, columns).
    KeptNorm(const LayerNormImpl& norm, const FusedDropout& dropout, const at::Tensor& like,
             bool differentiate)
        : weight(as_floats(norm.weight)),
          bias(as_floats(norm.bias)),
          epsilon(norm.epsilon),
          probability(dropout.probability) {
        if (probability > 0) {
            streams = copy_to_device(
                at::tensor(dropout_streams(like.size(0), dropout.key, dropout.site), at::kLong),
                like.device());
        }
        if (differentiate) {
            sum = at::empty_like(like);
            mean = floats_like(like, {like.numel() / weight.numel()});
            inverse = at::empty_like(mean);
        }
    }
    /// For rows like those of `x`.
    cuda::NormArguments arguments(const at::Tensor& x) const {
        cuda::NormArguments a;
        const std::int64_t rows = x.numel() / weight.numel();
        a.element = attention::element_of(x.scalar_type());
        a.rows = static_cast<std::int32_t>(rows);
        a.columns = static_cast<std::int32_t>(weight.numel());
        a.epsilon = static_cast<float>(epsilon);
        if (streams.defined()) {
            a.dropout = {streams.const_data_ptr<std::int64_t>(),
                         static_cast<std::int32_t>(rows / streams.numel()),
                         static_cast<std::uint32_t>(probability * 0x1p32),
                         static_cast<float>(1.0 / (1.0 - probability))};
        }
        a.weight = weight.const_data_ptr<float>();
        a.bias = bias.const_data_ptr<float>();
        if (sum.defined()) {
            a.sum = sum.mutable_data_ptr();
            a.mean = mean.mutable_data_ptr<float>();
            a.inverse = inverse.mutable_data_ptr<float>();
        }
        return a;
    }
};

struct NormGradients {
    at::Tensor d_x, d_sum, d_weight, d_bias;
};

NormGradients norm_backward(const KeptNorm& norm, const at::Tensor& d_y) {
    const at::Tensor slope = in_type(d_y, norm.sum.scalar_type());
    cuda::NormArguments a = norm.arguments(slope);
    NormGradients out{{}, at::empty_like(slope), at::empty_like(norm.weight), at::empty_like(norm.weight)};
    out.d_x = out.d_sum;
    if (norm.streams.defined()) {
        out.d_x = at::empty_like(slope);
        a.d_x = out.d_x.mutable_data_ptr();
    }
    a.part_count = parts_for(a.rows);
    const at::Tensor parts = floats_like(slope, {a.part_count, 2, a.columns});
    a.d_y = slope.const_data_ptr();
    a.d_sum = out.d_sum.mutable_data_ptr();
    a.d_weight = out.d_weight.mutable_data_ptr<float>();
    a.d_bias = out.d_bias.mutable_data_ptr<float>();
    a.parts = parts.mutable_data_ptr<float>();
    attention::run_kernels(slope.device(), "the kernels of layer norms",
                           [&](void* stream) { return cuda::kernel_library().norm_backward(a, stream); });
    return out;
}

void norm_forward(const cuda::NormArguments& arguments, const at::Device& device) {
    attention::run_kernels(
        device, "the kernels of layer norms",
        [&](void* stream) { return cuda::kernel_library().norm_forward(arguments, stream); });
}

/// The gradients of words, positions and token types from that of their sum, (batch, length, hidden). Sums
/// over the batch are computed in float.
Tensors table_gradients(const EmbeddingTables& tables, const at::Tensor& slope) {
    const at::Tensor d_x = slope.to(at::kFloat);
    const std::int64_t positions = tables.positions.size(0), count = std::min(positions, d_x.size(1));
    at::Tensor d_words =
        at::embedding_dense_backward(d_x, tables.ids, tables.words.size(0), tables.padding, false);
    if (tables.word_scale != 1.0) d_words.mul_(tables.word_scale);
    at::Tensor d_positions = at::zeros({positions, d_x.size(2)}, d_x.options());
    d_positions.narrow(0, 0, count).copy_(d_x.narrow(1, 0, count).sum(0));
    return {d_words, d_positions,
            at::embedding_dense_backward(d_x, tables.types, tables.token_types.size(0), -1, false)};
}

cuda::GeluArguments gelu_arguments(const at::Tensor& x, const at::Tensor& bias) {
    cuda::GeluArguments a;
    a.element = attention::element_of(x.scalar_type());
    a.columns = static_cast<std::int32_t>(bias.numel());
    a.rows = static_cast<std::int32_t>(x.numel() / bias.numel());
    a.x = x.const_data_ptr();
    a.bias = bias.const_data_ptr<float>();
    return a;
}

/// Gradients of x and bias.
Tensors bias_gelu_backward(const at::Tensor& x, const at::Tensor& bias, const at::Tensor& d_y) {
    const at::Tensor slope = in_type(d_y, x.scalar_type()), d_x = at::empty_like(x),
                     d_bias = at::empty_like(bias);
    cuda::GeluArguments a = gelu_arguments(x, bias);
    a.part_count = parts_for(a.rows);
    const at::Tensor parts = floats_like(x, {a.part_count, a.columns});
    a.d_y = slope.const_data_ptr();
    a.d_x = d_x.mutable_data_ptr();
    a.d_bias = d_bias.mutable_data_ptr<float>();
    a.parts = parts.mutable_data_ptr<float>();
    attention::run_kernels(x.device(), "the kernels of gelu",
                           [&](void* stream) { return cuda::kernel_library().gelu_backward(a, stream); });
    return {d_x, d_bias};
}

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
    const at::Tensor in = in_type(x, type),
                     rest = residual.defined() ? in_type(residual, type) : at::Tensor(),
                     y = at::empty_like(in);
    const KeptNorm own(norm, dropout, y, differentiate);
    cuda::NormArguments a = own.arguments(y);
    a.x = in.const_data_ptr();
    a.residual = rest.defined() ? rest.const_data_ptr() : nullptr;
    a.y = y.mutable_data_ptr();
    norm_forward(a, y.device());
    if (differentiate) {
        set_gradient(
            {y}, {x, residual, norm.weight, norm.bias},
            [own](const Tensors& gradients) -> Tensors {
                const NormGradients out = norm_backward(own, gradients[0]);
                return {out.d_x, out.d_sum, out.d_weight, out.d_bias};
            });
    }
    return y;
}

at::Tensor fused_embedding_norm(const EmbeddingTables& tables, const LayerNormImpl& norm,
                                const FusedDropout& dropout, at::ScalarType type) {
    const bool differentiate = at::GradMode::is_enabled();
    EmbeddingTables own_tables = tables;
    own_tables.ids = tables.ids.contiguous();
    own_tables.types = tables.types.contiguous();
    const at::Tensor words = as_floats(tables.words), positions = as_floats(tables.positions),
                     token_types = as_floats(tables.token_types);
    const std::int64_t batch = tables.ids.size(0), length = tables.ids.size(1);
    const at::Tensor y = at::empty({batch, length, norm.weight.numel()}, norm.weight.options().dtype(type));
    const KeptNorm own(norm, dropout, y, differentiate);
    cuda::NormArguments a = own.arguments(y);
    a.gather = {own_tables.ids.const_data_ptr<std::int64_t>(),
                own_tables.types.const_data_ptr<std::int64_t>(),
                words.const_data_ptr<float>(),
                token_types.const_data_ptr<float>(),
                positions.const_data_ptr<float>(),
                static_cast<std::int32_t>(length),
                static_cast<std::int32_t>(positions.size(0)),
                static_cast<float>(tables.word_scale)};
    a.y = y.mutable_data_ptr();
    norm_forward(a, y.device());
    if (differentiate) {
        set_gradient(
            {y}, {tables.words, tables.positions, tables.token_types, norm.weight, norm.bias},
            [own, own_tables](const Tensors& gradients) {
                const NormGradients out = norm_backward(own, gradients[0]);
                Tensors all = table_gradients(own_tables, out.d_x);
                all.insert(all.end(), {out.d_weight, out.d_bias});
                return all;
            });
    }
    return y;
}

at::Tensor fused_bias_gelu(const at::Tensor& x, const at::Tensor& bias, at::ScalarType type) {
    const at::Tensor in = in_type(x, type), shift = as_floats(bias), y = at::empty_like(in);
    cuda::GeluArguments a = gelu_arguments(in, shift);
    a.y = y.mutable_data_ptr();
    attention::run_kernels(x.device(), "the kernels of gelu",
                           [&](void* stream) { return cuda::kernel_library().gelu_forward(a, stream); });
    if (at::GradMode::is_enabled()) {
        set_gradient(
            {y}, {x, bias},
            [in, shift](const Tensors& gradients) { return bias_gelu_backward(in, shift, gradients[0]); });
    }
    return y;
}

}  // namespace bigbird::model
