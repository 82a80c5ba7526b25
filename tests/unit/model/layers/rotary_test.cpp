// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/rotary.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <ATen/ATen.h>

using namespace bigbird;
using bigbird::testing::difference;

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

DOCTEST_TEST_CASE("rotary: a longer table turns the first positions alike") {
    const at::Tensor x = testing::random_tensor({2, 3, 10, 8}, 1, at::kFloat);
    DOCTEST_CHECK(at::equal(model::rotate(x, model::rotary_table(10, 8, at::kCPU)),
                            model::rotate(x, model::rotary_table(64, 8, at::kCPU))));
}
