// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/convolution.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
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
        DOCTEST_CHECK(difference(bins::convolution(x, weight, bias, dilation), wanted) < 1e-5);
    }
}
