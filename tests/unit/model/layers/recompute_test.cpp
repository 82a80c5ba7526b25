// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/recompute.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/model/layers/layers.hpp"
#include "bigbird/model/layers/onednn_linear.hpp"

#include <ATen/ATen.h>

using namespace bigbird::model;

DOCTEST_TEST_CASE("recompute: result and gradients are the layer's own, computed twice") {
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
}

DOCTEST_TEST_CASE("recompute: without gradients a layer is called once") {
    int calls = 0;
    const auto layer = [&](const at::Tensor& x) {
        ++calls;
        return x + 1;
    };
    DOCTEST_CHECK(recomputed(layer, at::zeros({2})).sum().item<double>() == 2);
    DOCTEST_CHECK(calls == 1);
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
