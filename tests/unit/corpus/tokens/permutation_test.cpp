// SPDX-License-Identifier: Apache-2.0
#include "bigbird/corpus/tokens/permutation.hpp"

#include "support/testing.hpp"

#include <cstdlib>
#include <numeric>
#include <set>
#include <vector>

using bigbird::corpus::Permutation;

DOCTEST_TEST_CASE("permutation: every entry once, for any size") {
    for (const std::int64_t size : {1, 2, 3, 4, 5, 16, 17, 1000, 4097}) {
        const Permutation permutation(size, 7);
        std::set<std::int64_t> seen;
        for (std::int64_t i = 0; i < size; ++i) {
            seen.insert(permutation(i));
        }
        DOCTEST_CHECK(static_cast<std::int64_t>(seen.size()) == size);
        DOCTEST_CHECK(*seen.begin() == 0);
        DOCTEST_CHECK(*seen.rbegin() == size - 1);
    }
}

DOCTEST_TEST_CASE("permutation: keys differ, and entries land far from where they stood") {
    const std::int64_t size = 10'000;
    const Permutation one(size, 1), other(size, 2);
    std::int64_t same = 0, distance = 0, rising = 0;
    for (std::int64_t i = 0; i < size; ++i) {
        same += one(i) == other(i) ? 1 : 0;
        distance += std::abs(one(i) - i);
        rising += i > 0 && one(i) > one(i - 1) ? 1 : 0;
    }
    DOCTEST_CHECK(same < 10);
    DOCTEST_CHECK(static_cast<double>(distance) / static_cast<double>(size) ==
                  doctest::Approx(size / 3.0).epsilon(0.05));
    DOCTEST_CHECK(static_cast<double>(rising) / static_cast<double>(size) ==
                  doctest::Approx(0.5).epsilon(0.05));
}

DOCTEST_TEST_CASE("permutation: all orders of three come about evenly") {
    std::vector<int> counts(27);
    for (std::uint64_t key = 0; key < 6000; ++key) {
        const Permutation permutation(3, key);
        ++counts[static_cast<std::size_t>(permutation(0) * 9 + permutation(1) * 3 + permutation(2))];
    }
    int orders = 0;
    for (const int count : counts) {
        orders += count > 0 ? 1 : 0;
        DOCTEST_CHECK((count == 0 || (count > 800 && count < 1200)));
    }
    DOCTEST_CHECK(orders == 6);
}
