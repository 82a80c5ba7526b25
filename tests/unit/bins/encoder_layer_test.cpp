// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/encoder_layer.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"
#include "unit/bins/small_bins.hpp"

#include "bigbird/bins/layers.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using namespace bigbird::bins;
using bigbird::testing::difference;

DOCTEST_TEST_CASE("encoder layer: norm before or behind, plain or gated, sparse or full") {
    for (const model::Norm norm : {model::Norm::pre, model::Norm::post}) {
        for (const model::FeedForward kind : {model::FeedForward::plain, model::FeedForward::gated}) {
            BinsConfig config = bigbird::testing::small_bins();
            config.norm = norm;
            config.feed_forward = kind;
            const auto layouts = std::make_shared<attention::LayoutCache>(config.encoder.pattern, 2);
            EncoderLayer layer(config, 0, layouts);
            layer->eval();
            const at::NoGradGuard no_gradients;
            for (auto& parameter : layer->parameters())
                parameter.copy_(at::sin(at::arange(parameter.numel(), at::kFloat) * 1.3).view_as(parameter) *
                                0.3);
            const at::Tensor x = at::cos(at::arange(2 * 32 * 16, at::kFloat) * 0.7).view({2, 32, 16});
            Pass pass{.mask = at::ones({2, 32}, at::kBool),
                      .rotary = model::rotary_table(32, 8, at::kCPU),
                      .key = {},
                      .backend = attention::Backend::reference,
                      .blocks = 16};
            const at::Tensor y = layer->forward(x, pass);
            pass.backend = attention::Backend::blocked;
            DOCTEST_CHECK(difference(layer->forward(x, pass), y) < 1e-5);
            if (norm == model::Norm::post) continue;
            // By hand: the two blocks, each behind its norm and added.
            auto p = layer->named_parameters();
            const auto linear = [&](const std::string& name, const at::Tensor& in) {
                return at::linear(in, p[name + ".weight"], p[name + ".bias"]);
            };
            const auto norms = [&](const std::string& name, const at::Tensor& in) {
                return at::layer_norm(in, {16}, p[name + ".weight"], p[name + ".bias"], 1e-5);
            };
            const auto heads = [](const at::Tensor& in) { return in.view({2, 32, 2, 8}).transpose(1, 2); };
            const at::Tensor in = norms("attention_norm", x);
            const at::Tensor context = attention::sparse_attention(
                model::rotate(heads(linear("query", in)), pass.rotary),
                model::rotate(heads(linear("key", in)), pass.rotary), heads(linear("value", in)), pass.mask,
                *layouts->get(16, 0, at::kCPU), attention::Backend::reference);
            const at::Tensor middle =
                x + linear("attention_output", context.transpose(1, 2).reshape({2, 32, 16}));
            const at::Tensor inside = norms("feed_forward_norm", middle);
            at::Tensor inner = at::gelu(linear("feed_forward_in", inside), "tanh");
            if (kind == model::FeedForward::gated) inner = inner * linear("feed_forward_gate", inside);
            DOCTEST_CHECK(difference(middle + linear("feed_forward_out", inner), y) < 1e-5);
        }
    }
}

DOCTEST_TEST_CASE("encoder layer: a convolution for attention, wider with each layer") {
    BinsConfig config = bigbird::testing::small_bins();
    config.mixing = Mixing::convolution;
    EncoderLayer layer(config, 2, nullptr);
    layer->eval();
    const at::NoGradGuard no_gradients;
    for (auto& parameter : layer->parameters())
        parameter.copy_(at::sin(at::arange(parameter.numel(), at::kFloat) * 1.3).view_as(parameter) * 0.3);
    auto p = layer->named_parameters();
    p["feed_forward_out.weight"].zero_();
    p["feed_forward_out.bias"].zero_();
    const at::Tensor x = at::cos(at::arange(2 * 32 * 16, at::kFloat) * 0.7).view({2, 32, 16});
    const at::Tensor normed = at::gelu(
        at::layer_norm(x, {16}, p["convolution_norm.weight"], p["convolution_norm.bias"], 1e-5), "tanh");
    const at::Tensor wanted =
        x + convolution(normed, p["convolution.weight"], p["convolution.bias"], 4);  // 2^2
    const at::Tensor before = x.clone();
    DOCTEST_CHECK(difference(layer->forward(x, {}), wanted) < 1e-5);
    DOCTEST_CHECK(at::equal(x, before));
}
