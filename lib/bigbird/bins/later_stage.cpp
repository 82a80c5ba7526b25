// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/bins/cpu/stem_kernels.hpp"
#include "bigbird/bins/layers.hpp"
#include "bigbird/bins/secants.hpp"
#include "bigbird/bins/stem.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>

namespace bigbird::bins {

namespace {

/// A backward pass keeps one partial sum per blocks_of_part blocks, but at most most_parts sums and most_sums
/// floats.
constexpr std::int64_t blocks_of_part = 16, most_parts = 16, most_sums = std::int64_t{1} << 24;

const float* data_of(const at::Tensor& tensor) {
    return tensor.const_data_ptr<float>();
}

/// x, (batch, length, in), and the parameters, all contiguous and float32.
struct LaterOperands : LaterStage {
    at::Tensor x;

    ConvolutionShape shape() const {
        return {x.size(1), x.size(2), weight.size(0), static_cast<float>(epsilon)};
    }
    std::int64_t blocks() const {
        return (x.size(1) + stem_kernels().convolution.block - 1) / stem_kernels().convolution.block;
    }
    /// filters: (points, in, out).
    ConvolutionWeights weights(const at::Tensor& filters, const float* turned) const {
        return {data_of(filters), turned, data_of(norm), data_of(norm_bias), data_of(bias)};
    }
};

/// (points, in, out), or with `turned` (points, out, in): ConvolutionWeights.
at::Tensor filters_of(const at::Tensor& weight, bool turned) {
    const std::int64_t out = weight.size(0), in = weight.size(1);
    const at::Tensor plain = weight.detach().to(at::kFloat).contiguous();
    at::Tensor filters = at::empty({points, turned ? out : in, turned ? in : out}, plain.options());
    filters_to_points({.in = in, .out = out}, data_of(plain), turned, filters.mutable_data_ptr<float>());
    return filters;
}

/// Calls body(window, first position, scratch memory) for the blocks from `begin` on.
template <typename Body>
void for_blocks(const LaterOperands& given, std::int64_t begin, std::int64_t end, const Body& body) {
    const auto scratch = std::make_unique_for_overwrite<float[]>(
        static_cast<std::size_t>(stem_kernels().convolution.scratch(given.shape())));
    for (std::int64_t i = begin; i < end; ++i)
        body(i / given.blocks(), i % given.blocks() * stem_kernels().convolution.block, scratch.get());
}

at::Tensor forward_on_cpu(const LaterOperands& given) {
    const ConvolutionShape shape = given.shape();
    at::Tensor y = at::empty({given.x.size(0), shape.length, shape.out}, given.x.options());
    const at::Tensor filters = given.filters.defined() ? given.filters : filters_of(given.weight, false);
    const ConvolutionWeights weights = given.weights(filters, nullptr);
    const float* const from = data_of(given.x);
    auto* const to = y.mutable_data_ptr<float>();
    at::parallel_for(0, given.x.size(0) * given.blocks(), 1, [&](std::int64_t begin, std::int64_t end) {
        for_blocks(given, begin, end, [&](std::int64_t window, std::int64_t first, float* scratch) {
            stem_kernels().convolution.forward(shape, weights, from + window * given.x.stride(0), first,
                                               scratch, to + window * y.stride(0));
        });
    });
    return y;
}

/// Gradients of x, norm, norm_bias, weight and bias.
model::Tensors backward_on_cpu(const LaterOperands& given, const at::Tensor& dy) {
    const ConvolutionShape shape = given.shape();
    const at::Tensor filters = filters_of(given.weight, false), turned = filters_of(given.weight, true);
    const ConvolutionWeights weights = given.weights(filters, data_of(turned));
    // The division of blocks does not depend on the number of threads, so sums do not either.
    const std::int64_t blocks = given.x.size(0) * given.blocks(), size = filters.numel();
    const std::int64_t parts = std::min({(blocks + blocks_of_part - 1) / blocks_of_part, most_parts,
                                         std::max<std::int64_t>(1, most_sums / size)});
    const std::int64_t rest = 2 * shape.in + shape.out;
    at::Tensor dx = at::empty_like(given.x), sums = at::zeros({parts, size + rest}, given.x.options());
    const float *const from = data_of(given.x), *const slopes = data_of(dy);
    auto *const to = dx.mutable_data_ptr<float>(), *const all_sums = sums.mutable_data_ptr<float>();
    at::parallel_for(0, parts, 1, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t part = begin; part < end; ++part) {
            float* const mine = all_sums + part * sums.stride(0);
            const ConvolutionSums add{mine, mine + size, mine + size + shape.in, mine + size + 2 * shape.in};
            for_blocks(given, blocks * part / parts, blocks * (part + 1) / parts,
                       [&](std::int64_t window, std::int64_t first, float* scratch) {
                           const std::int64_t at = window * given.x.stride(0);
                           stem_kernels().convolution.backward(shape, weights, from + at,
                                                               slopes + window * dy.stride(0), first, scratch,
                                                               to + at, add);
                       });
        }
    });
    const auto split = sums.sum(0).split_with_sizes({size, shape.in, shape.in, shape.out});
    at::Tensor weight = at::empty_like(given.weight);
    filters_from_points(shape, data_of(split[0]), weight.mutable_data_ptr<float>());
    return {dx, split[1], split[2], weight, split[3]};
}

bool has_kernel(const at::Tensor& x, const LaterStage& stage) {
    const std::int64_t channels = stem_kernels().convolution.channels;
    return x.is_cpu() && !takes_secants() && stage.weight.size(2) == taps && x.size(2) % channels == 0 &&
           stage.weight.size(0) % channels == 0;
}

}  // namespace

at::Tensor later_filters(const LaterStage& stage) {
    return stage.weight.size(2) == taps ? filters_of(stage.weight, false) : at::Tensor();
}

at::Tensor later_stage(const at::Tensor& x, const LaterStage& stage) {
    if (!has_kernel(x, stage)) return later_stage_reference(x, stage);
    const auto plain = [](const at::Tensor& tensor) { return tensor.detach().to(at::kFloat).contiguous(); };
    const LaterOperands given{{plain(stage.norm), plain(stage.norm_bias), stage.epsilon, plain(stage.weight),
                               plain(stage.bias), stage.filters},
                              plain(x)};
    const at::Tensor y = forward_on_cpu(given);
    if (at::GradMode::is_enabled()) {
        model::set_gradient(
            {y}, {x, stage.norm, stage.norm_bias, stage.weight, stage.bias},
            [given](const model::Tensors& gradients) {
                return backward_on_cpu(given, gradients[0].contiguous());
            });
    }
    return y;
}

at::Tensor later_stage_reference(const at::Tensor& x, const LaterStage& stage) {
    const at::Tensor normed = jointly(
        x,
        [&](const at::Tensor& all) {
            return at::layer_norm(all, {all.size(2)}, stage.norm, stage.norm_bias, stage.epsilon);
        });
    const at::Tensor active =
        elementwise(normed, [](const at::Tensor& all) { return at::gelu(all, "tanh"); });
    const at::Tensor y = convolution(active, stage.weight, stage.bias);
    return y.size(2) == normed.size(2) ? normed + y : y;
}

}  // namespace bigbird::bins
