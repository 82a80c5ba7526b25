// SPDX-License-Identifier: Apache-2.0
// The pass of a training step on a CPU: as forward(), but positions are rows of a matrix, (windows x
// positions, channels), so that each tap of a layer is one matrix product, in bfloat16 where there are
// instructions for it. All layers have the stem's positions. Products run over the borders of windows; what
// they give there reaches no position that forward() keeps, and so has no gradient.
#include "bigbird/bins/stem.hpp"
#include "bigbird/model/layers/own_gradient.hpp"
#include "bigbird/networks/profiles/profile_state.hpp"

#include <ATen/ATen.h>

namespace bigbird::networks {

namespace {

using model::Tensors;

at::Tensor middle_rows(const at::Tensor& x, std::int64_t count) {
    return x.narrow(1, (x.size(1) - count) / 2, count);
}

/// Rows as one matrix.
at::Tensor flat(const at::Tensor& x) {
    return x.reshape({-1, x.size(2)});
}

/// The gradient of a bias: a product, which is faster than a sum.
at::Tensor sum_of_rows(const at::Tensor& x) {
    return at::ones({1, x.size(0)}, x.options()).mm(x).squeeze(0).to(at::kFloat);
}

/// weight (out, in, width) as (width * in, out), in the type of the products.
at::Tensor taps_of(const at::Tensor& weight, at::ScalarType type) {
    return weight.detach().permute({2, 1, 0}).reshape({-1, weight.size(0)}).to(type);
}
/// The inverse of taps_of(), for a gradient.
at::Tensor weight_of(const at::Tensor& taps, const at::Tensor& weight) {
    return taps.to(weight.scalar_type())
        .view({weight.size(2), weight.size(1), weight.size(0)})
        .permute({2, 1, 0})
        .contiguous();
}

/// relu(stem), from one-hot letters (windows, input, 4), which need no gradient.
at::Tensor stem_pass(const PartTensors& part, const at::Tensor& letters, at::ScalarType type) {
    const std::int64_t taps = part.shape.stem, positions = letters.size(1) - taps + 1;
    const at::Tensor columns =
        letters
            .as_strided({letters.size(0), positions, taps, 4},
                        {letters.stride(0), letters.stride(1), letters.stride(1), letters.stride(2)})
            .reshape({-1, 4 * taps});
    const at::Tensor y =
        at::addmm(part.stem_bias.detach().to(type), columns, taps_of(part.stem, type)).relu_();
    model::set_gradient({y}, {part.stem, part.stem_bias},
                        [columns, kept = y.detach(), weight = part.stem.detach()](const Tensors& gradients) {
                            const at::Tensor dy = at::threshold_backward(gradients[0], kept, 0);
                            return Tensors{weight_of(columns.t().mm(dy), weight), sum_of_rows(dy)};
                        });
    return y;
}

/// x + relu(convolution(x)) in the rows whose taps are rows.
at::Tensor layer_pass(const LayerTensors& layer, std::int64_t dilation, const at::Tensor& x,
                      at::ScalarType type) {
    const at::Tensor input = x.detach(), taps = taps_of(layer.weight, type);
    const std::int64_t rows = x.size(0) - 2 * dilation, channels = x.size(1);
    const auto tap_rows = [dilation, rows](const at::Tensor& of, std::int64_t tap) {
        return of.narrow(0, tap * dilation, rows);
    };
    at::Tensor y =
        at::addmm(layer.bias.detach().to(type), input.narrow(0, 0, rows), taps.narrow(0, 0, channels));
    for (std::int64_t tap = 1; tap < 3; ++tap)
        y.addmm_(tap_rows(input, tap), taps.narrow(0, tap * channels, channels));
    y.relu_();
    const at::Tensor result = input.clone();
    tap_rows(result, 1).add_(y);
    model::set_gradient(
        {result}, {x, layer.weight, layer.bias},
        [input, y, taps, tap_rows, channels, weight = layer.weight.detach()](const Tensors& gradients) {
            const at::Tensor dy = at::threshold_backward(tap_rows(gradients[0], 1), y, 0);
            const at::Tensor dx = gradients[0].clone();
            std::vector<at::Tensor> dw;
            for (std::int64_t tap = 0; tap < 3; ++tap) {
                tap_rows(dx, tap).addmm_(dy, taps.narrow(0, tap * channels, channels).t());
                dw.push_back(tap_rows(input, tap).t().mm(dy));
            }
            return Tensors{dx, weight_of(at::cat(dw), weight), sum_of_rows(dy)};
        });
    return result;
}

/// (windows, output, taps): row i, tap t is row i + t, column t of `products`, whose sum over taps is the
/// convolution.
at::Tensor diagonals(const at::Tensor& products, std::int64_t output, std::int64_t column) {
    const std::int64_t taps = products.size(1) - output + 1;
    return products.as_strided({products.size(0), output, taps},
                               {products.stride(0), products.stride(1), products.stride(1) + 1},
                               products.storage_offset() + column * taps);
}

/// Logits (windows, output, columns), float32: a product with all taps at each position, then sums along
/// diagonals.
at::Tensor profile_pass(const PartTensors& part, const at::Tensor& x, at::ScalarType type) {
    const std::int64_t output = part.shape.output, columns = part.shape.columns(), taps = part.shape.head;
    const at::Tensor input = middle_rows(x.detach(), output + taps - 1).contiguous();
    const at::Tensor weights =  // (channels, columns * taps)
        part.profile.detach().permute({1, 0, 2}).reshape({x.size(2), -1}).to(type);
    const at::Tensor products = flat(input).mm(weights).view({x.size(0), -1, columns * taps});
    std::vector<at::Tensor> logits;
    for (std::int64_t column = 0; column < columns; ++column)
        logits.push_back(diagonals(products, output, column).sum(at::IntArrayRef{2}, false, at::kFloat));
    const at::Tensor result = at::stack(logits, 2) + part.profile_bias.detach();
    model::set_gradient(
        {result}, {x, part.profile, part.profile_bias},
        [input, weights, output, columns, taps, sizes = x.sizes().vec()](const Tensors& gradients) {
            at::Tensor slopes = at::zeros({input.size(0), input.size(1), columns * taps}, input.options());
            for (std::int64_t column = 0; column < columns; ++column)
                diagonals(slopes, output, column)
                    .copy_(gradients[0].select(2, column).unsqueeze(2).expand({-1, -1, taps}));
            at::Tensor dx = at::zeros(sizes, input.options());
            middle_rows(dx, input.size(1)).copy_(flat(slopes).mm(weights.t()).view_as(input));
            const at::Tensor dw = flat(input).t().mm(flat(slopes)).to(at::kFloat);
            return Tensors{dx, dw.view({-1, columns, taps}).permute({1, 0, 2}).contiguous(),
                           gradients[0].sum(at::IntArrayRef{0, 1})};
        });
    return result;
}

}  // namespace

ProfileHeads ProfileNetImpl::training_pass(const at::Tensor& codes, at::ScalarType type) const {
    const PartTensors& part = state_->parts.front();
    const at::Tensor letters = bins::base_channels(codes);
    if (part.shape.trunk != Trunk::relu_after || state_->parts.size() > 1 || !codes.is_cpu())
        return forward(letters);
    at::Tensor rows = stem_pass(part, letters.to(type), type);
    for (std::size_t i = 0; i < part.layers.size(); ++i)
        rows = layer_pass(part.layers[i], part.shape.dilation(static_cast<std::int64_t>(i)), rows, type);
    const at::Tensor x = rows.view({codes.size(0), -1, part.shape.filters});
    const at::Tensor mean = middle_rows(x, part.shape.counts).mean(at::IntArrayRef{1}, false, at::kFloat);
    return {profile_pass(part, x, type), at::linear(mean, part.counts, part.counts_bias)};
}

}  // namespace bigbird::networks
