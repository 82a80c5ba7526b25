// SPDX-License-Identifier: Apache-2.0
#include "bigbird/model/layers/rotary.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include <ATen/ATen.h>

#include <cmath>

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

DOCTEST_TEST_CASE("rotary: a longer table turns the first positions alike") {
    const at::Tensor x = testing::random_tensor({2, 3, 10, 8}, 1, at::kFloat);
    DOCTEST_CHECK(at::equal(model::rotate(x, model::rotary_table(10, 8, at::kCPU)),
                            model::rotate(x, model::rotary_table(64, 8, at::kCPU))));
}
