// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/statistics/bootstrap_interval.hpp"

#include "support/testing.hpp"

#include "bigbird/core/formats/json_file.hpp"
#include "bigbird/core/rng.hpp"

#include <cmath>
#include <vector>

using namespace bigbird;

DOCTEST_TEST_CASE("bootstrap_interval: the interval is that of a mean of many, and repeats") {
    Rng rng(5);
    std::vector<Share> shares;
    for (int i = 0; i < 400; ++i)
        shares.push_back({200 + 20 * rng.normal(), 100});
    const auto [low, high] = bootstrap_interval(shares, 1, 2000);
    const double mean = sum_of(shares).value(), half = 1.96 * 0.2 / std::sqrt(400.0);
    DOCTEST_CHECK(low == doctest::Approx(mean - half).epsilon(0.002));
    DOCTEST_CHECK(high == doctest::Approx(mean + half).epsilon(0.002));
    DOCTEST_CHECK((high - low) / (2 * half) == doctest::Approx(1).epsilon(0.04));
    DOCTEST_CHECK(bootstrap_interval(shares, 1, 2000) == std::pair(low, high));
    DOCTEST_CHECK(bootstrap_interval(shares, 2, 2000) != std::pair(low, high));
    DOCTEST_CHECK(bootstrap_interval({}, 1) == std::pair(0.0, 0.0));
}

DOCTEST_TEST_CASE("bootstrap_interval: quantiles are interpolated as numpy's") {
    std::vector<double> values{4, 1, 3, 2};
    DOCTEST_CHECK(quantile(values, 0.0) == 1);
    DOCTEST_CHECK(quantile(values, 1.0) == 4);
    DOCTEST_CHECK(quantile(values, 0.5) == doctest::Approx(2.5));
    DOCTEST_CHECK(quantile(values, 0.025) == doctest::Approx(1.075));  // np.quantile([4, 1, 3, 2], 0.025)
}

DOCTEST_TEST_CASE("bootstrap_interval: bias-corrected intervals equal scipy's and numpy's") {
    const Json fixture = read_json(testing::test_data("metrics/figures.json"));
    DOCTEST_REQUIRE(fixture["intervals"].size() == 4);
    for (const Json& one : fixture["intervals"]) {
        auto resampled = one["resampled"].get<std::vector<double>>();
        const ConfidenceInterval interval = bias_corrected_interval(one["estimate"], resampled);
        DOCTEST_CHECK(interval.low == doctest::Approx(one["low"].get<double>()).epsilon(1e-9));
        DOCTEST_CHECK(interval.high == doctest::Approx(one["high"].get<double>()).epsilon(1e-9));
    }
}

DOCTEST_TEST_CASE("bootstrap_interval: a ratio is that of the sums, not the mean of ratios") {
    const std::vector<Share> shares{{1, 1}, {0, 99}};
    DOCTEST_CHECK(sum_of(shares).value() == 0.01);
    DOCTEST_CHECK(sum_of({}).value() == 0);
    DOCTEST_CHECK(Share{5, 0}.value() == 0);
    const auto [low, high] = bootstrap_interval(shares, 3);
    DOCTEST_CHECK(low == 0);   // the second unit twice, a quarter of the resamples
    DOCTEST_CHECK(high == 1);  // the first one twice
}
