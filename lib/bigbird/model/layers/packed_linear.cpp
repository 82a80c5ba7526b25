// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/packed_linear.hpp"

#include "bigbird/core/check.hpp"

#include <ATen/ATen.h>
#include <ATen/autocast_mode.h>
#include <torch/csrc/autograd/custom_function.h>

#include <algorithm>
#include <optional>

namespace bigbird::model {

namespace {

using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

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

/// Each part's share of a gradient, in the parameters' type.
variable_list shares(const at::Tensor& gradient, at::ScalarType type) {
    variable_list parts;
    for (const at::Tensor& part : gradient.chunk(count, 0))
        parts.push_back(part.to(type));
    return parts;
}

/// Gradients of the parts as (rows, 3 out), in `type`.
at::Tensor packed(const variable_list& gradients, at::ScalarType type) {
    if (const at::Tensor all = side_by_side(gradients); all.defined() && all.scalar_type() == type)
        return all;
    variable_list parts;
    for (const at::Tensor& gradient : gradients)
        parts.push_back(gradient.to(type));
    return at::cat(parts, -1).flatten(0, -2);
}

class PackedLinear : public torch::autograd::Function<PackedLinear> {
public:
    using Bias = std::optional<at::Tensor>;
    static variable_list forward(AutogradContext* context, const at::Tensor& x, const at::Tensor& w0,
                                 const at::Tensor& w1, const at::Tensor& w2, const Bias& b0, const Bias& b1,
                                 const Bias& b2) {
        const at::ScalarType type = type_of_product(x);
        const at::Tensor in = x.to(type), weight = stacked({w0, w1, w2}, type);
        const at::Tensor bias = b0 ? stacked({*b0, *b1, *b2}, type) : at::Tensor();
        context->save_for_backward({in, weight});
        context->saved_data["x"] = x.scalar_type();
        context->saved_data["parameters"] = w0.scalar_type();
        context->saved_data["bias"] = b0.has_value();
        return at::linear(in, weight, bias).chunk(count, -1);
    }

    static variable_list backward(AutogradContext* context, const variable_list& gradients) {
        const variable_list saved = context->get_saved_variables();
        const at::Tensor &x = saved[0], &weight = saved[1];
        const at::ScalarType of_parameters = context->saved_data["parameters"].toScalarType();
        const at::Tensor slope = packed(gradients, x.scalar_type());  // (rows, 3 out)
        variable_list result{
            at::matmul(slope, weight).view(x.sizes()).to(context->saved_data["x"].toScalarType())};
        const variable_list of_weights = shares(at::matmul(slope.t(), x.flatten(0, -2)), of_parameters);
        const variable_list of_biases = context->saved_data["bias"].toBool()
                                            ? shares(slope.sum(0), of_parameters)
                                            : variable_list(static_cast<std::size_t>(count));
        result.insert(result.end(), of_weights.begin(), of_weights.end());
        result.insert(result.end(), of_biases.begin(), of_biases.end());
        return result;
    }
};

PackedLinear::Bias bias_of(const LinearImpl& layer) {
    return layer.bias.defined() ? PackedLinear::Bias(layer.bias) : std::nullopt;
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
    const variable_list out =
        PackedLinear::apply(x, layers[0]->weight, layers[1]->weight, layers[2]->weight, bias_of(*layers[0]),
                            bias_of(*layers[1]), bias_of(*layers[2]));
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
