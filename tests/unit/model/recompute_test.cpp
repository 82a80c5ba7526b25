// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/recompute.hpp"

#include "support/testing.hpp"

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
