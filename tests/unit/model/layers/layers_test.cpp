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
