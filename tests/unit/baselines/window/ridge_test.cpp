// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/window/ridge.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("baselines/ridge: the normal equations of standardised features, whatever the chunks") {
    const at::Tensor mixing = random_tensor({6, 6}, 1);
    const at::Tensor x = at::matmul(random_tensor({200, 6}, 2), mixing) + 3;
    const at::Tensor y = random_tensor({200, 2}, 3) + x.slice(1, 0, 2);
    baselines::Ridge ridge(6, 2);
    ridge.add(x.slice(0, 0, 70), y.slice(0, 0, 70));
    ridge.add(x.slice(0, 70), y.slice(0, 70));
    const at::Tensor mean = x.mean(0), deviation = x.std(0, false);
    const at::Tensor z = (x - mean) / deviation;
    for (const double penalty : {1e-6, 0.1, 10.0}) {
        const auto solved = ridge.solve(penalty);
        const at::Tensor normal = at::matmul(z.t(), z) + penalty * 200 * at::eye(6, at::kDouble);
        const at::Tensor beta = at::linalg_solve(normal, at::matmul(z.t(), y - y.mean(0)));
        const at::Tensor expected = at::matmul(z, beta) + y.mean(0);
        DOCTEST_CHECK(difference(at::linear(x, solved.weight, solved.bias), expected) < 1e-8);
    }
}

DOCTEST_TEST_CASE("baselines/ridge: a feature that does not vary has no weight") {
    at::Tensor x = random_tensor({50, 3}, 4);
    x.select(1, 1).fill_(0.1);
    baselines::Ridge ridge(3, 1);
    ridge.add(x, x.slice(1, 0, 1) * 2 + 1);
    const auto solved = ridge.solve(1e-9);
    DOCTEST_CHECK(solved.weight[0][1].item<double>() == 0);
    DOCTEST_CHECK(solved.weight[0][0].item<double>() == doctest::Approx(2));
    DOCTEST_CHECK(solved.bias[0].item<double>() == doctest::Approx(1));
}
