// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/bootstrap.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <cmath>
#include <vector>

using namespace bigbird;
using namespace bigbird::baselines;

DOCTEST_TEST_CASE("bootstrap: the interval is that of a mean of many, and repeats") {
    Rng rng(5);
    std::vector<Share> shares;
    for (int i = 0; i < 400; ++i) {
        shares.push_back({200 + 20 * rng.normal(), 100});
    }
    const auto [low, high] = bootstrap_interval(shares, 1, 2000);
    const double mean = sum_of(shares).value(), half = 1.96 * 0.2 / std::sqrt(400.0);
    DOCTEST_CHECK(low == doctest::Approx(mean - half).epsilon(0.002));
    DOCTEST_CHECK(high == doctest::Approx(mean + half).epsilon(0.002));
    DOCTEST_CHECK(bootstrap_interval(shares, 1, 2000) == std::pair(low, high));
    DOCTEST_CHECK(bootstrap_interval(shares, 2, 2000) != std::pair(low, high));
    DOCTEST_CHECK(bootstrap_interval({}, 1) == std::pair(0.0, 0.0));
}
