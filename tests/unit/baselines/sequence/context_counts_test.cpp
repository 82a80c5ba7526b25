// SPDX-License-Identifier: Apache-2.0
#include "bigbird/baselines/sequence/context_counts.hpp"

#include "support/testing.hpp"

#include <cmath>

using namespace bigbird::baselines;

DOCTEST_TEST_CASE(
    "context counts: orders are interpolated, and what is unknown costs what shorter ones say") {
    ContextCounts counts(2);
    counts.add(0b0111, 2, 0);  // A behind T, and C before that
    counts.add(0b0011, 1, 2);  // G behind T, what is before unknown
    std::vector<CodeLength> lengths(3);
    counts.add_bits(0b0111, 2, 0, lengths);
    const double zero = (1 + 32 / 4.0) / 34, one = (1 + 32 * zero) / 34, two = (1 + 16 * one) / 17;
    DOCTEST_CHECK(lengths[0].bits == doctest::Approx(-std::log2(zero)));
    DOCTEST_CHECK(lengths[1].bits == doctest::Approx(-std::log2(one)));
    DOCTEST_CHECK(lengths[2].bits == doctest::Approx(-std::log2(two)));
    std::vector<CodeLength> shorter(3);
    counts.add_bits(0b0111, 1, 0, shorter);
    DOCTEST_CHECK(shorter[2].bits == doctest::Approx(shorter[1].bits));
    std::vector<CodeLength> unseen(3);
    counts.add_bits(0b1010, 2, 0, unseen);
    DOCTEST_CHECK(unseen[2].bits == doctest::Approx(unseen[0].bits));
}

DOCTEST_TEST_CASE("context counts: letters that are no bases") {
    DOCTEST_CHECK(base_index('A') == 0);
    DOCTEST_CHECK(base_index('T') == 3);
    DOCTEST_CHECK(base_index('N') == -1);
}
