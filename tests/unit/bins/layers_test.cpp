// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/layers.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird::bins;
using bigbird::testing::difference;
using bigbird::testing::random_tensor;

DOCTEST_TEST_CASE("convolution: each place is the sum over its neighbours, as far apart as asked for") {
    const at::Tensor x = random_tensor({2, 9, 3}, 1, at::kFloat),
                     weight = random_tensor({4, 3, 3}, 2, at::kFloat),
                     bias = random_tensor({4}, 3, at::kFloat);
    for (const std::int64_t dilation : {1, 2, 4}) {
        at::Tensor wanted = bias.expand({2, 9, 4}).clone();
        for (std::int64_t place = 0; place < 9; ++place) {
            for (std::int64_t tap = 0; tap < 3; ++tap) {
                const std::int64_t from = place + (tap - 1) * dilation;
                if (from < 0 || from >= 9) continue;
                wanted.select(1, place) += at::matmul(x.select(1, from), weight.select(2, tap).t());
            }
        }
        DOCTEST_CHECK(difference(convolution(x, weight, bias, dilation), wanted) < 1e-5);
    }
}

DOCTEST_TEST_CASE("softmax pool: the fast way and its gradients are those of the slow twin") {
    const at::Tensor values = 3 * at::sin(at::arange(2 * 600 * 24, at::kFloat)).view({2, 600, 24});
    const at::Tensor sharp = at::linspace(-1, 3, 24), slope = at::cos(at::arange(2 * 150 * 24, at::kFloat));
    const auto gradients = [&](auto pool, at::ScalarType type) {
        const at::Tensor x = values.clone().to(type).requires_grad_(),
                         s = sharp.clone().to(type).requires_grad_();
        const at::Tensor y = pool(x, s, 4);
        (y.flatten() * slope.to(type)).sum().backward();
        return std::vector<at::Tensor>{y.detach(), x.grad(), s.grad()};
    };
    const auto fast = gradients(softmax_pool, at::kFloat),
               slow = gradients(softmax_pool_reference, at::kDouble);
    DOCTEST_CHECK(fast[0].sizes() == at::IntArrayRef{2, 150, 24});
    DOCTEST_CHECK(difference(fast[0], slow[0]) < 2e-6);
    DOCTEST_CHECK(difference(fast[1], slow[1]) < 5e-6);
    DOCTEST_CHECK(difference(fast[2], slow[2]) < 1e-4);
    const at::NoGradGuard no_gradients;
    DOCTEST_CHECK(at::equal(softmax_pool(values, sharp, 4), fast[0]));
}
