// SPDX-License-Identifier: Apache-2.0
// LibTorch's side of the CUDA kernels between the matrix products, with the kernels emulated on the CPU.
#include "bigbird/model/layers/fused_steps.hpp"

#include "support/emulated_kernels.hpp"
#include "support/testing.hpp"
#include "unit/model/layers/fused_network_cases.hpp"

#include "bigbird/attention/cuda/host/kernel_library.hpp"

using namespace bigbird;
using attention::Backend;
using bigbird::testing::as_near_as_torch;
using bigbird::testing::InBf16;
using bigbird::testing::Results;
using model::DropoutSite;

namespace {

model::LayerNorm layer_norm(const at::Tensor& weight, const at::Tensor& bias) {
    model::LayerNorm norm(weight.numel(), testing::norm_epsilon);
    norm->to(at::kFloat);
    const at::NoGradGuard no_gradient;
    norm->weight.copy_(weight);
    norm->bias.copy_(bias);
    return norm;
}

}  // namespace

DOCTEST_TEST_CASE("fused_steps: norm, residual and dropout, with gradients, as near fp64 as LibTorch") {
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    const testing::NormInputs inputs(9, 128, at::kBFloat16);
    const model::LayerNorm norm = layer_norm(inputs.weight, inputs.bias);
    const auto leaf = [](const at::Tensor& x) { return x.to(at::kBFloat16, false, true).requires_grad_(); };
    const at::Tensor x = leaf(inputs.x), residual = leaf(inputs.residual);
    const at::Tensor y = model::fused_norm(
        x, residual, *norm,
        {testing::drop_probability, {7, 11, 40}, {DropoutSite::Place::attention_output, 2}}, at::kBFloat16);
    y.backward(inputs.d_y.to(at::kBFloat16));
    DOCTEST_CHECK((norm->weight.grad().scalar_type() == at::kFloat));
    const Results exact = norm_by_torch(inputs, at::kDouble);
    DOCTEST_CHECK(as_near_as_torch(
        testing::as_results({y, x.grad(), residual.grad(), norm->weight.grad(), norm->bias.grad()}), exact,
        norm_by_torch(inputs, at::kBFloat16)));
}

DOCTEST_TEST_CASE("fused_steps: a norm without residual and dropout, with gradients and without") {
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    const testing::NormInputs inputs(5, 64, at::kBFloat16);
    const auto by_torch = [&](at::ScalarType type) {
        const auto leaf = [&](const at::Tensor& x) { return x.to(type, false, true).requires_grad_(); };
        const at::Tensor x = leaf(inputs.x), weight = leaf(inputs.weight), bias = leaf(inputs.bias);
        const at::Tensor y = at::layer_norm(x, {64}, weight, bias, testing::norm_epsilon);
        y.backward(inputs.d_y.to(type));
        return testing::as_results({y, x.grad(), weight.grad(), bias.grad()});
    };
    const model::LayerNorm norm = layer_norm(inputs.weight, inputs.bias);
    const at::Tensor x = inputs.x.to(at::kFloat).requires_grad_();
    const at::Tensor y = model::fused_norm(x, {}, *norm, {}, at::kBFloat16);
    y.backward(inputs.d_y.to(at::kBFloat16));
    DOCTEST_CHECK(as_near_as_torch(testing::as_results({y, x.grad(), norm->weight.grad(), norm->bias.grad()}),
                                   by_torch(at::kDouble), by_torch(at::kBFloat16)));
    const at::NoGradGuard no_gradient;
    DOCTEST_CHECK(testing::identical(model::fused_norm(x, {}, *norm, {}, at::kBFloat16), y.detach()));
}

DOCTEST_TEST_CASE("fused_steps: embeddings are gathered, dropped and normalised, with gradients") {
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    constexpr std::int64_t hidden = 64, length = 12, padding = 3;
    const at::Tensor ids = (at::arange(2 * length, at::kLong) * 5 % 17).view({2, length}),
                     types = (at::arange(2 * length, at::kLong) % 2).view({2, length});
    // Fewer positions than tokens.
    const at::Tensor tables[] = {testing::draw({17, hidden}, 1, at::kFloat),
                                 testing::draw({10, hidden}, 2, at::kFloat),
                                 testing::draw({2, hidden}, 3, at::kFloat)};
    const at::Tensor weight = testing::draw({hidden}, 4, at::kFloat),
                     bias = testing::draw({hidden}, 5, at::kFloat),
                     slope = testing::draw({2, length, hidden}, 6, at::kBFloat16);
    const model::DropoutKey key{1, 2, 3};
    const DropoutSite site{DropoutSite::Place::embeddings};
    const auto by_torch = [&](at::ScalarType type) {
        const auto leaf = [&](const at::Tensor& x) { return x.to(type, false, true).requires_grad_(); };
        const at::Tensor words = leaf(tables[0]), positions = leaf(tables[1]), kinds = leaf(tables[2]),
                         w = leaf(weight), b = leaf(bias);
        const at::Tensor sum = at::embedding(words, ids, padding) * 1.5 + at::embedding(kinds, types) +
                               at::constant_pad_nd(positions, {0, 0, 0, 2});
        const at::Tensor y =
            at::layer_norm(model::dropout(sum, 0.1, key, site), {hidden}, w, b, testing::norm_epsilon);
        y.backward(slope.to(type));
        return testing::as_results({y, words.grad(), positions.grad(), kinds.grad(), w.grad(), b.grad()});
    };
    const model::LayerNorm norm = layer_norm(weight, bias);
    const auto leaf = [](const at::Tensor& x) { return x.to(at::kFloat, false, true).requires_grad_(); };
    const at::Tensor words = leaf(tables[0]), positions = leaf(tables[1]), kinds = leaf(tables[2]);
    const at::Tensor y = model::fused_embedding_norm({ids, types, words, positions, kinds, 1.5, padding},
                                                     *norm, {0.1, key, site}, at::kBFloat16);
    y.backward(slope.to(at::kBFloat16));
    DOCTEST_CHECK(words.grad()[padding].abs().max().item<double>() == 0);
    DOCTEST_CHECK(as_near_as_torch(testing::as_results({y, words.grad(), positions.grad(), kinds.grad(),
                                                        norm->weight.grad(), norm->bias.grad()}),
                                   by_torch(at::kDouble), by_torch(at::kBFloat16)));
}

DOCTEST_TEST_CASE("fused_steps: bias and gelu, with gradients, as near fp64 as LibTorch") {
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    const testing::GeluInputs inputs(35, 136, at::kBFloat16);
    const at::Tensor x = inputs.x.view({5, 7, 136}).to(at::kBFloat16).requires_grad_(),
                     bias = inputs.bias.to(at::kFloat).requires_grad_();
    const at::Tensor y = model::fused_bias_gelu(x, bias, at::kBFloat16);
    y.backward(inputs.d_y.view({5, 7, 136}).to(at::kBFloat16));
    const auto flat = [](const at::Tensor& t) { return t.view({35, 136}); };
    DOCTEST_CHECK(as_near_as_torch(testing::as_results({flat(y), flat(x.grad()), bias.grad()}),
                                   gelu_by_torch(inputs, at::kDouble), gelu_by_torch(inputs, at::kBFloat16)));
}

DOCTEST_TEST_CASE(
    "fused_steps: they take over in 16 bits on a device with kernels, unless another backend was chosen") {
    const at::Tensor parameter = at::zeros({4}), half = parameter.to(at::kHalf);
    DOCTEST_CHECK(!model::fused_type(half, Backend::fused, 64));
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    DOCTEST_CHECK((model::fused_type(half, Backend::fused, 64) == at::kHalf));
    DOCTEST_CHECK((model::fused_type(half, Backend::automatic, 64) == at::kHalf));
    DOCTEST_CHECK(!model::fused_type(parameter, Backend::automatic, 64));
    DOCTEST_CHECK(!model::fused_type(half, Backend::blocked, 64));
    DOCTEST_CHECK(!model::fused_type(half, Backend::fused, 60));
    DOCTEST_CHECK(!model::fused_type(half, Backend::fused, 2048));
    DOCTEST_CHECK(!model::fused_type(parameter, Backend::fused, 64));
    const InBf16 autocast;
    DOCTEST_CHECK((model::fused_type(parameter, Backend::fused_hopper, 64) == at::kBFloat16));
}

DOCTEST_TEST_CASE("fused_steps: a network trains by the kernels as near fp64 as by LibTorch") {
    const model::BigBirdConfig config = testing::kernel_config();
    const Results exact = testing::train_once(config, Backend::blocked, at::kDouble);
    const InBf16 autocast;
    const Results by_torch = testing::train_once(config, Backend::blocked, at::kFloat);
    const attention::cuda::EmulatedKernels emulation(testing::emulated_kernels());
    for (const Backend backend : {Backend::fused, Backend::fused_hopper}) {
        const Results found = testing::train_once(config, backend, at::kFloat);
        DOCTEST_CHECK(testing::trains_as_near(found, exact, by_torch));
        DOCTEST_CHECK(testing::distance(found, by_torch) > 0);  // it did go another way
    }
}
