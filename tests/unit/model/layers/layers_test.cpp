// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/layers.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/model/layers/dropout.hpp"
#include "bigbird/model/layers/onednn_linear.hpp"
#include "bigbird/model/layers/recompute.hpp"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <cmath>
#include <numbers>

using namespace bigbird::model;
using namespace bigbird::testing;
using namespace bigbird;
using bigbird::testing::difference;

namespace {

at::Tensor floats(at::ArrayRef<float> values) {
    return at::tensor(values);
}

}  // namespace

DOCTEST_TEST_CASE("layers: activations are the functions that their names mean") {
    const at::Tensor x = at::linspace(-4, 4, 33, at::kDouble);
    const double root = std::sqrt(2.0 / std::numbers::pi);
    const at::Tensor tanh_gelu = 0.5 * x * (1 + at::tanh(root * (x + 0.044715 * x * x * x)));
    DOCTEST_CHECK(difference(activation("gelu_new", x), tanh_gelu) < 1e-14);
    DOCTEST_CHECK(difference(activation("gelu_pytorch_tanh", x), tanh_gelu) < 1e-14);
    DOCTEST_CHECK(difference(activation("gelu", x), 0.5 * x * (1 + at::erf(x / std::sqrt(2.0)))) < 1e-14);
    DOCTEST_CHECK(difference(activation("relu", x), at::clamp_min(x, 0)) == 0);
    DOCTEST_CHECK(difference(activation("silu", x), x * at::sigmoid(x)) < 1e-14);
    DOCTEST_CHECK_THROWS_AS(activation("tanh", x), std::logic_error);
}

DOCTEST_TEST_CASE("layers: the padding row gets no gradient from look-ups") {
    Embedding embedding(4, 2, 1);
    embedding->forward(at::tensor({0, 1, 1, 3}, at::kLong)).sum().backward();
    DOCTEST_CHECK(identical(embedding->weight.grad(), floats({1, 1, 0, 0, 0, 0, 1, 1}).view({4, 2})));
}

DOCTEST_TEST_CASE("layers: Linear and LayerNorm") {
    Linear linear(3, 2, false);
    DOCTEST_CHECK(linear->parameters().size() == 1);
    at::NoGradGuard no_gradient;
    linear->weight.copy_(floats({1, 2, 3, 0, 1, 0}).view({2, 3}));
    DOCTEST_CHECK(identical(linear->forward(floats({1, 10, 100})), floats({321, 10})));
    LayerNorm norm(2, 1e-12);
    DOCTEST_CHECK(difference(norm->forward(floats({3, 5})), floats({-1, 1})) < 1e-6);
}

DOCTEST_TEST_CASE("layers: a row's product does not depend on its place among the rows") {
    const at::NoGradGuard no_gradient;
    // Features: hidden sizes, and k-mers of models of k-mers. Outputs: labels of tasks.
    for (const std::int64_t in : {1, 10, 37, 128, 136, 250, 512, 777, 925, 1024, 1025, 2081, 3072, 8321}) {
        for (const std::int64_t out : {1, 2, 3, 5, 8, 17, 109, 919}) {
            if (in * out > 200'000) continue;
            const at::Tensor weight = random_tensor({out, in}, 2, at::kFloat),
                             bias = random_tensor({out}, 3, at::kFloat),
                             all = random_tensor({64, in}, 1, at::kFloat),
                             exact = at::linear(all.to(at::kDouble), weight.to(at::kDouble),
                                                bias.to(at::kDouble));
            const at::Tensor y = bigbird::model::linear(all, weight, bias);
            DOCTEST_CAPTURE(in);
            DOCTEST_CAPTURE(out);
            DOCTEST_CHECK(difference(y, exact) < 1e-4);
            for (const std::int64_t rows : {1, 2, 5, 16}) {
                DOCTEST_CAPTURE(rows);
                for (const std::int64_t first : {0, 3, 37}) {
                    DOCTEST_CHECK(at::equal(
                        bigbird::model::linear(all.narrow(0, first, rows).contiguous(), weight, bias),
                        y.narrow(0, first, rows)));
                }
            }
            const at::Tensor half =
                bigbird::model::linear(all.to(at::kBFloat16), weight.to(at::kBFloat16), at::Tensor());
            DOCTEST_CHECK(at::equal(bigbird::model::linear(all.roll(5, 0).to(at::kBFloat16),
                                                           weight.to(at::kBFloat16), at::Tensor()),
                                    half.roll(5, 0)));
        }
    }
}

DOCTEST_TEST_CASE("layers: a window's features do not depend on its place among the windows") {
    const at::NoGradGuard no_gradient;
    for (const std::int64_t in : {128, 256, 768, 3072}) {
        for (const std::int64_t out : {128, 256, 768}) {
            const at::Tensor weight = random_tensor({out, in}, 2, at::kFloat),
                             x = random_tensor({4, 64, in}, 1, at::kFloat),
                             y = bigbird::model::linear(x, weight, at::Tensor());
            DOCTEST_CAPTURE(in);
            DOCTEST_CAPTURE(out);
            DOCTEST_CHECK(at::equal(bigbird::model::linear(x.roll(1, 0).contiguous(), weight, at::Tensor()),
                                    y.roll(1, 0)));
        }
    }
}

namespace {

/// -30 .. 30, finer about 0; 2,003 elements are no whole number of vectors.
at::Tensor arguments() {
    const at::Tensor line = at::linspace(-3.1, 3.1, 2003, at::kDouble);
    return line * line * line;
}

}  // namespace

DOCTEST_TEST_CASE("gelu: by tanh, as LibTorch in fp64, in fp32 and bf16") {
    for (const auto& [type, tolerance] : {std::pair(at::kFloat, 4e-7), std::pair(at::kBFloat16, 8e-3)}) {
        const at::Tensor x = arguments().to(type), wide = x.to(at::kDouble).requires_grad_();
        const at::Tensor wanted = at::gelu(wide, "tanh");
        const at::Tensor scale = wanted.detach().abs() + 1;
        DOCTEST_CHECK(difference(gelu_tanh(x.clone()) / scale, wanted.detach() / scale) < tolerance);

        const at::Tensor leaf = x.clone().requires_grad_();
        const at::Tensor weights = at::linspace(-1, 1, x.numel(), at::kDouble).to(type);
        (gelu_tanh(leaf) * weights).sum().backward();
        (wanted * weights.to(at::kDouble)).sum().backward();
        DOCTEST_CHECK(difference(leaf.grad(), wide.grad()) < 3 * tolerance);
    }
}

DOCTEST_TEST_CASE("gelu: what is no number stays so, infinities have their limits") {
    const at::Tensor y = gelu_tanh(at::tensor({std::nanf(""), HUGE_VALF, -50.0F}));
    DOCTEST_CHECK(y[0].isnan().item<bool>());
    DOCTEST_CHECK(y[1].item<float>() == HUGE_VALF);
    DOCTEST_CHECK(std::abs(y[2].item<float>()) < 1e-30F);
}

DOCTEST_TEST_CASE("gelu: fp64 is LibTorch's") {
    const at::Tensor x = arguments();
    DOCTEST_CHECK(difference(gelu_tanh(x), at::gelu(x, "tanh")) == 0);
}

DOCTEST_TEST_CASE("rotary: products depend on the distance alone") {
    const model::RotaryTable table = model::rotary_table(40, 8, at::kCPU);
    const at::Tensor q = at::sin(at::arange(8, at::kFloat)), k = at::cos(at::arange(8, at::kFloat) * 3);
    const auto everywhere = [&](const at::Tensor& x) {
        return model::rotate(x.expand({1, 1, 40, 8}), table)[0][0];  // (40, 8)
    };
    const at::Tensor products = at::matmul(everywhere(q), everywhere(k).t());
    for (const int distance : {0, 1, 7, -5}) {
        const at::Tensor same = products.diagonal(distance);
        DOCTEST_CHECK(difference(same, same[0].expand_as(same)) < 1e-4);
    }
    DOCTEST_CHECK(difference(products[3][3], (q * k).sum()) < 1e-5);
    DOCTEST_CHECK(difference(products[3][3], products[3][4]) > 1e-2);
}

DOCTEST_TEST_CASE(
    "rotary: angles of another base, divided positions and a stretched base are the formulas'") {
    const auto angle = [](double position, int pair, double theta) {
        return position * std::pow(theta, -2.0 * pair / 8);
    };
    const auto check = [&](const model::RotaryForm& form, double stretch, double theta) {
        const model::RotaryTable table = model::rotary_table(40, 8, at::kCPU, form);
        for (const int position : {0, 1, 39}) {
            for (int pair = 0; pair < 4; ++pair) {
                const double expected = angle(position / stretch, pair, theta);
                DOCTEST_CHECK(table.cosine[position][pair].item<double>() ==
                              doctest::Approx(std::cos(expected)).epsilon(1e-6));
                DOCTEST_CHECK(table.sine[position][pair].item<double>() ==
                              doctest::Approx(std::sin(expected)).epsilon(1e-6));
            }
        }
    };
    check({}, 1, 1e4);
    check({.theta = 500}, 1, 500);
    check({.scaling = model::RopeScaling::linear, .factor = 4}, 4, 1e4);
    check({.theta = 500, .scaling = model::RopeScaling::ntk, .factor = 4}, 1, 500 * std::pow(4, 8.0 / 6));
}

DOCTEST_TEST_CASE("rotary: a longer table turns the first positions alike") {
    const at::Tensor x = testing::random_tensor({2, 3, 10, 8}, 1, at::kFloat);
    DOCTEST_CHECK(at::equal(model::rotate(x, model::rotary_table(10, 8, at::kCPU)),
                            model::rotate(x, model::rotary_table(64, 8, at::kCPU))));
}

DOCTEST_TEST_CASE("recompute: result and gradients are the layer's own, computed twice, or once without") {
    at::Tensor weight = at::linspace(-1, 1, 12).view({3, 4}).requires_grad_();
    int calls = 0;
    const auto layer = [&](const at::Tensor& x) {
        ++calls;
        return at::tanh(at::linear(x, weight));
    };
    at::Tensor x = at::linspace(0, 2, 8).view({2, 4}).requires_grad_();
    const at::Tensor plain = layer(x);
    plain.square().sum().backward();
    const at::Tensor of_x = x.grad().clone(), of_weight = weight.grad().clone();
    x.mutable_grad().reset();
    weight.mutable_grad().reset();
    calls = 0;
    const at::Tensor again = recomputed(layer, x);
    DOCTEST_CHECK(at::equal(again, plain));
    DOCTEST_CHECK(calls == 1);
    again.square().sum().backward();
    DOCTEST_CHECK(calls == 2);
    DOCTEST_CHECK(at::equal(x.grad(), of_x));
    DOCTEST_CHECK(at::equal(weight.grad(), of_weight));
    DOCTEST_CHECK(at::equal(recomputed(layer, x.detach()), plain));
    DOCTEST_CHECK(calls == 3);
}

DOCTEST_TEST_CASE(
    "recompute: its pass without gradients makes the products of the pass with gradients, to the bit") {
    Linear linear(192, 192, true);
    {
        const at::NoGradGuard no_gradient;
        linear->weight.copy_(bigbird::testing::random_tensor({192, 192}, 1, at::kFloat) / 14);
    }
    bool by_onednn = false;
    const auto layer = [&](const at::Tensor& x) {
        by_onednn = by_onednn || has_onednn_linear(x);
        return linear->forward_and_add(x, x);
    };
    const at::Tensor x = bigbird::testing::random_tensor({3, 70, 192}, 2, at::kFloat).requires_grad_();
    DOCTEST_CHECK(at::equal(recomputed(layer, x), layer(x)));
    DOCTEST_CHECK_FALSE(by_onednn);
    const at::NoGradGuard no_gradient;
    layer(x);
    DOCTEST_CHECK(by_onednn);  // without gradients for good it is what serves
}

namespace {
constexpr DropoutSite site{DropoutSite::Place::output, 3};
}

DOCTEST_TEST_CASE("dropout: drops the share that is asked for and scales the rest") {
    const at::Tensor x = at::ones({4, 333, 101});
    const at::Tensor y = dropout(x, 0.1, {1, 2, 3}, site);
    const double kept = (y != 0).to(at::kDouble).mean().item<double>();
    DOCTEST_CHECK(std::abs(kept - 0.9) < 5 * std::sqrt(0.09 / static_cast<double>(x.numel())));
    DOCTEST_CHECK(identical(y, (y != 0).to(at::kFloat) * static_cast<float>(1.0 / 0.9)));
    DOCTEST_CHECK(identical(dropout(x, 0, {}, site), x));
}

DOCTEST_TEST_CASE(
    "dropout: masks follow the sample and not its place in the batch, the threads or the type") {
    const at::Tensor x = random_tensor({5, 64, 33}, 1, at::kFloat);
    const at::Tensor whole = dropout(x, 0.3, {7, 11, 100}, site);
    const at::Tensor later = dropout(x.slice(0, 2, 5), 0.3, {7, 11, 102}, site);
    DOCTEST_CHECK(identical(whole.slice(0, 2, 5), later));
    const int threads = at::get_num_threads();
    at::set_num_threads(1);
    DOCTEST_CHECK(identical(whole, dropout(x, 0.3, {7, 11, 100}, site)));
    at::set_num_threads(threads);
    DOCTEST_CHECK(identical(whole != 0, dropout(x.to(at::kDouble), 0.3, {7, 11, 100}, site) != 0));
    DOCTEST_CHECK(identical(whole != 0, dropout(x.to(at::kBFloat16), 0.3, {7, 11, 100}, site) != 0));
    DOCTEST_CHECK(
        identical(whole, dropout(x.transpose(1, 2).contiguous().transpose(1, 2), 0.3, {7, 11, 100}, site)));
}

DOCTEST_TEST_CASE("dropout: every part of the key and the site matters") {
    const at::Tensor x = at::ones({1, 2000});
    const at::Tensor base = dropout(x, 0.5, {1, 2, 3}, site);
    for (const DropoutKey& key : {DropoutKey{2, 2, 3}, DropoutKey{1, 3, 3}, DropoutKey{1, 2, 4}})
        DOCTEST_CHECK(!identical(base, dropout(x, 0.5, key, site)));
    DOCTEST_CHECK(!identical(base, dropout(x, 0.5, {1, 2, 3}, {DropoutSite::Place::output, 4})));
    DOCTEST_CHECK(!identical(base, dropout(x, 0.5, {1, 2, 3}, {DropoutSite::Place::attention_output, 3})));
    // Neighbours are independent: as many agreeing pairs as differing ones.
    const at::Tensor kept = (base != 0).flatten();
    const double agree = (kept.slice(0, 1) == kept.slice(0, 0, 1999)).to(at::kDouble).mean().item<double>();
    DOCTEST_CHECK(std::abs(agree - 0.5) < 5 * std::sqrt(0.25 / 1999));
}

DOCTEST_TEST_CASE("dropout: the gradient passes through the same mask") {
    const at::Tensor x = random_tensor({2, 31, 7}, 1).requires_grad_();
    const at::Tensor y = dropout(x, 0.4, {1, 2, 3}, site), weights = random_tensor({2, 31, 7}, 2);
    (y * weights).sum().backward();
    const at::Tensor factors =
        dropout_factors({2, 31, 7}, x.options().requires_grad(false), 0.4, {1, 2, 3}, site);
    DOCTEST_CHECK(difference(y, x.detach() * factors) < 1e-15);
    DOCTEST_CHECK(difference(x.grad(), weights * factors) < 1e-15);
}

DOCTEST_TEST_CASE("rotary: ntk leaves the fastest pair as it is and slows the slowest by the factor") {
    using model::RopeScaling;
    const model::RotaryTable plain = model::rotary_table(40, 8, at::kCPU),
                             ntk = model::rotary_table(40, 8, at::kCPU,
                                                       {.scaling = RopeScaling::ntk, .factor = 4}),
                             linear = model::rotary_table(40, 8, at::kCPU,
                                                          {.scaling = RopeScaling::linear, .factor = 4});
    DOCTEST_CHECK(at::equal(ntk.sine.select(1, 0), plain.sine.select(1, 0)));
    DOCTEST_CHECK(difference(ntk.sine.select(1, 3), linear.sine.select(1, 3)) < 1e-6);
    DOCTEST_CHECK(at::equal(linear.sine[8], plain.sine[2]));
}
