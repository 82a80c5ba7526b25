// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/layers.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <cmath>
#include <numbers>

using namespace bigbird::model;
using namespace bigbird::testing;

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
    for (const std::int64_t in : {10, 37, 136, 925, 2081}) {
        for (const std::int64_t out : {1, 2, 5, 109}) {
            const at::Tensor x = random_tensor({16, in}, 1, at::kFloat),
                             weight = random_tensor({out, in}, 2, at::kFloat),
                             bias = random_tensor({out}, 3, at::kFloat), y = linear(x, weight, bias);
            DOCTEST_CAPTURE(in);
            DOCTEST_CAPTURE(out);
            DOCTEST_CHECK(difference(y, at::linear(x.to(at::kDouble), weight.to(at::kDouble),
                                                   bias.to(at::kDouble))) < 1e-4);
            for (const std::int64_t by : {1, 4, 5}) {
                DOCTEST_CHECK(at::equal(linear(x.roll(by, 0).contiguous(), weight, bias), y.roll(by, 0)));
            }
        }
    }
}
