// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/measures.hpp"

#include "support/testing.hpp"

#include <array>
#include <cmath>

using namespace bigbird::profiles;

DOCTEST_TEST_CASE("profile distances are scipy's jensenshannon") {
    // scipy.spatial.distance.jensenshannon([1, 2, 3, 4], [4, 3, 2, 1]), and against equal shares
    const std::array<float, 4> counts{1, 2, 3, 4}, other{4, 3, 2, 1}, flat{2, 2, 2, 2}, none{};
    DOCTEST_CHECK(profile_distance(counts, other) == doctest::Approx(0.32625164));
    DOCTEST_CHECK(profile_distance(counts, flat) == doctest::Approx(0.16692997));
    DOCTEST_CHECK(profile_distance(counts, counts) == doctest::Approx(0));
    DOCTEST_CHECK(std::isnan(profile_distance(none, flat)));
    const std::array<float, 2> left{1, 0}, right{0, 1};
    DOCTEST_CHECK(profile_distance(left, right) == doctest::Approx(std::sqrt(std::log(2.0))));
}

DOCTEST_TEST_CASE("figures of many windows leave out those without reads") {
    ProfileDistances all;
    const std::array<float, 4> counts{1, 2, 3, 4}, flat{1, 1, 1, 1}, none{}, twenty{0, 20, 0, 0};
    all.add(none, flat);
    all.add(counts, flat);
    all.add(twenty, twenty);
    DOCTEST_CHECK(all.reads == std::vector<double>{10, 20});
    DOCTEST_CHECK(all.weighted() == doctest::Approx(0.16692997 / 3));
    DOCTEST_CHECK(all.median_normalized() == doctest::Approx(0.5));  // of 0 and 1
}

DOCTEST_TEST_CASE("quantiles are numpy's") {
    DOCTEST_CHECK(quantile({4, 1, 3, 2}, 0.01) == doctest::Approx(1.03));
    DOCTEST_CHECK(median({3, 1, 2}) == 2);
    DOCTEST_CHECK(std::isnan(median({})));
}

DOCTEST_TEST_CASE("factorial terms make a multinomial likelihood") {
    const std::array<float, 2> counts{2, 1};  // 3 orders of two and one: ln 3
    DOCTEST_CHECK(factorial_terms(counts) == doctest::Approx(-std::log(3.0)));
}
