// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/secants.hpp"
#include "bigbird/networks/profiles/profile_state.hpp"

#include <ATen/ATen.h>

namespace bigbird::networks {

namespace {

using bins::elementwise;
using bins::jointly;

at::Tensor rectified(const at::Tensor& x) {
    return elementwise(
        x, [](const at::Tensor& y) { return at::relu(y); });
}

at::Tensor gelu_of(const at::Tensor& x) {
    return elementwise(
        x, [](const at::Tensor& y) { return at::gelu(y, "tanh"); });
}

/// Mean 0 and variance 1 over all channels and positions of each window.
at::Tensor normed(const at::Tensor& x) {
    return jointly(
        x,
        [](const at::Tensor& y) {
            const at::Tensor apart = y - y.mean({1, 2}, true);
            return apart * (apart.square().mean({1, 2}, true) + norm_epsilon).rsqrt();
        });
}

/// The middle `count` positions of (windows, channels, positions).
at::Tensor middle(const at::Tensor& x, std::int64_t count) {
    return x.narrow(2, (x.size(2) - count) / 2, count);
}

at::Tensor cherimoya_layer(const PartTensors& part, std::size_t i, const at::Tensor& x) {
    const LayerTensors& layer = part.layers[i];
    const std::int64_t dilation = part.shape.dilation(static_cast<std::int64_t>(i));
    const at::Tensor y =
        at::conv1d(x, layer.taps.t().unsqueeze(1), {}, 1, dilation, dilation, part.shape.filters);
    const at::Tensor inner = gelu_of(at::conv1d(normed(y), layer.linear1.unsqueeze(2)));
    return x + part.shape.residual_scale * at::conv1d(inner, layer.linear2.unsqueeze(2));
}

at::Tensor cropped_layer(const PartTensors& part, std::size_t i, const at::Tensor& x) {
    const LayerTensors& layer = part.layers[i];
    const std::int64_t dilation = part.shape.dilation(static_cast<std::int64_t>(i));
    const bool after = part.shape.trunk == Trunk::relu_after;
    const at::Tensor y =
        at::conv1d(after ? x : rectified(x), layer.weight, layer.bias, 1, at::IntArrayRef{0}, dilation);
    return middle(x, x.size(2) - 2 * dilation) + (after ? rectified(y) : y);
}

at::Tensor trunk_of(const PartTensors& part, const at::Tensor& letters) {
    const ProfileShape& shape = part.shape;
    at::Tensor x = at::conv1d(letters.transpose(1, 2), part.stem, part.stem_bias, 1,
                              shape.pads() ? (shape.stem - 1) / 2 : 0);
    if (shape.trunk == Trunk::relu_after) x = rectified(x);
    if (shape.trunk == Trunk::cherimoya) x = gelu_of(x);
    for (std::size_t i = 0; i < part.layers.size(); ++i)
        x = shape.pads() ? cherimoya_layer(part, i, x) : cropped_layer(part, i, x);
    return shape.trunk == Trunk::relu_before ? rectified(x) : x;
}

}  // namespace

ProfileHeads twin_heads(const PartTensors& part, const at::Tensor& letters) {
    const ProfileShape& shape = part.shape;
    const at::Tensor x = trunk_of(part, letters);
    const at::Tensor logits =
        at::conv1d(x, part.profile, part.profile_bias, 1, shape.pads() ? (shape.head - 1) / 2 : 0);
    return {middle(logits, shape.output).transpose(1, 2),
            at::linear(middle(x, shape.counts).mean(2), part.counts, part.counts_bias)};
}

ProfileHeads joined_heads(const ProfileHeads& a, const ProfileHeads& b) {
    return {a.profile.defined() ? a.profile + b.profile : at::Tensor(),
            jointly(
                at::stack({a.counts, b.counts}, 2),
                [](const at::Tensor& counts) { return counts.logsumexp(2); })};
}

}  // namespace bigbird::networks
