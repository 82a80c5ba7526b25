// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/layers.hpp"

#include "bigbird/attention/torch_threads.hpp"
#include "bigbird/bins/cpu/stem_kernels.hpp"
#include "bigbird/model/layers/own_gradient.hpp"

#include <ATen/ATen.h>

namespace bigbird::bins {

at::Tensor convolution(const at::Tensor& x, const at::Tensor& weight, const at::Tensor& bias,
                       std::int64_t dilation) {
    const std::int64_t padding = weight.size(2) / 2 * dilation;
    // oneDNN takes the channels last, as the tensors hold them.
    return at::conv2d(x.transpose(1, 2).unsqueeze(2), weight.unsqueeze(2), bias, at::IntArrayRef{1, 1},
                      at::IntArrayRef{0, padding}, at::IntArrayRef{1, dilation})
        .squeeze(2)
        .transpose(1, 2);
}

namespace {

constexpr std::int64_t chunk = 256;  // outputs that one thread pools; sums over chunks have a fixed order

std::int64_t chunks_of(std::int64_t outputs) {
    return (outputs + chunk - 1) / chunk;
}

/// Calls body(number, first output, outputs) for each chunk.
template <typename Body>
void for_chunks(std::int64_t outputs, const Body& body) {
    at::parallel_for(
        0, chunks_of(outputs), 1,
        [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t i = begin; i < end; ++i)
                body(i, i * chunk, std::min(chunk, outputs - i * chunk));
        });
}

at::Tensor forward_on_cpu(const at::Tensor& x, const at::Tensor& sharpness, std::int64_t pool) {
    const std::int64_t channels = x.size(2), outputs = x.size(0) * x.size(1) / pool;
    at::Tensor y = at::empty({x.size(0), x.size(1) / pool, channels}, x.options());
    const float *from = x.const_data_ptr<float>(), *sharp = sharpness.const_data_ptr<float>();
    auto* to = y.mutable_data_ptr<float>();
    for_chunks(outputs, [&](std::int64_t, std::int64_t first, std::int64_t count) {
        stem_kernels().pool.forward({count, pool, channels}, from + first * pool * channels, sharp,
                                    to + first * channels);
    });
    return y;
}

/// Gradients of x and sharpness.
model::Tensors backward_on_cpu(const at::Tensor& x, const at::Tensor& sharpness, std::int64_t pool,
                               const at::Tensor& dy) {
    const std::int64_t channels = x.size(2), outputs = x.size(0) * x.size(1) / pool;
    at::Tensor dx = at::empty_like(x), sums = at::zeros({chunks_of(outputs), channels}, x.options());
    const float *from = x.const_data_ptr<float>(), *sharp = sharpness.const_data_ptr<float>(),
                *slope = dy.const_data_ptr<float>();
    float *to = dx.mutable_data_ptr<float>(), *sum = sums.mutable_data_ptr<float>();
    for_chunks(outputs, [&](std::int64_t i, std::int64_t first, std::int64_t count) {
        stem_kernels().pool.backward({count, pool, channels}, from + first * pool * channels, sharp,
                                     slope + first * channels, to + first * pool * channels,
                                     sum + i * channels);
    });
    return {dx, sums.sum(0)};
}

}  // namespace

at::Tensor softmax_pool(const at::Tensor& x, const at::Tensor& sharpness, std::int64_t pool) {
    if (!x.device().is_cpu()) return softmax_pool_reference(x, sharpness, pool);
    const at::Tensor values = x.detach().to(at::kFloat).contiguous(),
                     sharp = sharpness.detach().to(at::kFloat).contiguous(),
                     y = forward_on_cpu(values, sharp, pool);
    if (at::GradMode::is_enabled()) {
        model::set_gradient(
            {y}, {x, sharpness},
            [=](const model::Tensors& gradients) {
                return backward_on_cpu(values, sharp, pool, gradients[0].contiguous());
            });
    }
    return y;
}

at::Tensor softmax_pool_reference(const at::Tensor& x, const at::Tensor& sharpness, std::int64_t pool) {
    const at::Tensor values = x.reshape({x.size(0), x.size(1) / pool, pool, x.size(2)});
    return (values * (values * sharpness).softmax(2)).sum(2);
}

}  // namespace bigbird::bins
