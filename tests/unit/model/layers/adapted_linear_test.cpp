// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/adapted_linear.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/model/layers/dropout.hpp"

#include <ATen/ATen.h>

#include <vector>

using namespace bigbird::model;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

namespace {

struct AdaptedCase {
    bool with_bias = true, drops = false, of_x = true;
};

/// The result and the gradients of x, A and B.
template <typename Compute>
std::vector<at::Tensor> adapted_gradients(const AdaptedCase& given, at::ScalarType type, Compute&& compute) {
    const auto made = [&](at::IntArrayRef shape, std::uint64_t seed, double scale) {
        return (random_tensor(shape.vec(), seed, at::kFloat) * scale).to(type);
    };
    // Rows that are not contiguous, as heads give them.
    const at::Tensor x = made({70, 2, 48}, 1, 1).transpose(0, 1).requires_grad_(given.of_x),
                     slopes = made({70, 2, 33}, 2, 1).transpose(0, 1), weight = made({33, 48}, 3, 0.2),
                     bias = given.with_bias ? made({33}, 4, 1) : at::Tensor();
    Adapter adapter{made({4, 48}, 5, 0.2).requires_grad_(true), made({33, 4}, 6, 0.2).requires_grad_(true),
                    1.5};
    if (given.drops)
        adapter.drop = [](const at::Tensor& of) {
            return dropout(of, 0.3, {.seed = 7, .step = 2}, {DropoutSite::Place::adapter, 1});
        };
    const at::Tensor y = compute(x, weight, bias, adapter);
    y.backward(slopes);
    return {y.detach(), given.of_x ? x.grad() : at::zeros({}), adapter.a.grad(), adapter.b.grad()};
}

}  // namespace

DOCTEST_TEST_CASE("adapted_linear: results and gradients are those of three layers in fp64") {
    for (const AdaptedCase& given : {AdaptedCase{}, AdaptedCase{.with_bias = false},
                                     AdaptedCase{.drops = true}, AdaptedCase{.of_x = false}}) {
        DOCTEST_CAPTURE(given.with_bias);
        DOCTEST_CAPTURE(given.drops);
        DOCTEST_CAPTURE(given.of_x);
        const auto found = adapted_gradients(given, at::kFloat, adapted_linear),
                   wanted = adapted_gradients(given, at::kDouble, plain_adapted_linear);
        for (std::size_t i = 0; i < wanted.size(); ++i) {
            DOCTEST_CAPTURE(i);
            DOCTEST_CHECK(difference(found[i], wanted[i]) < 1e-4);
        }
    }
}

DOCTEST_TEST_CASE("adapted_linear: only float with gradients on a CPU is asked of it") {
    const at::Tensor x = random_tensor({2, 5, 48}, 1, at::kFloat);
    DOCTEST_CHECK(has_adapted_linear(x));
    DOCTEST_CHECK_FALSE(has_adapted_linear(x.to(at::kDouble)));
    DOCTEST_CHECK_FALSE(has_adapted_linear(x.slice(1, 0, 0)));
    const at::NoGradGuard no_gradients;
    DOCTEST_CHECK_FALSE(has_adapted_linear(x));
}
