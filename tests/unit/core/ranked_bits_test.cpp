// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/ranked_bits.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("ranked_bits: the k-th 1, for rows that are dense, sparse and empty") {
    for (const std::int64_t one_in : {1, 3, 200, 5000}) {
        RankedBits bits;
        std::vector<std::int64_t> places;
        Rng rng = Rng(3).split(static_cast<std::uint64_t>(one_in));
        for (std::int64_t i = 0; i < 3001; ++i) {
            const bool one = rng.between(1, one_in) == 1;
            bits.push_back(one);
            if (one) places.push_back(i);
            DOCTEST_REQUIRE(bits[i] == one);
        }
        DOCTEST_CHECK(bits.size() == 3001);
        DOCTEST_REQUIRE(bits.ones() == std::ssize(places));
        for (std::int64_t k = 0; k < bits.ones(); ++k)
            DOCTEST_CHECK(bits.place_of(k) == places[static_cast<std::size_t>(k)]);
    }
    DOCTEST_CHECK(RankedBits().ones() == 0);
}
