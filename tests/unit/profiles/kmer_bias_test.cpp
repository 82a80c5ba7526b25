// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/kmer_bias.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cmath>
#include <string>

using namespace bigbird;
using namespace bigbird::profiles;

DOCTEST_TEST_CASE("log odds are counts per k-mer over the mean of all") {
    KmerBias table(2);
    // Bases 2 to 5 of the window; the 2-mer of a base is the letter before it and its own: AA, AC, CC, CC
    table.add("AAACCCCC", std::vector<float>{0, 0, 3, 1});
    const std::vector<float> odds = table.log_odds();
    DOCTEST_REQUIRE(odds.size() == 16);
    DOCTEST_CHECK(odds[0] == doctest::Approx(std::log(1.0 / 2)));                // AA: 0 cuts of 1 base
    DOCTEST_CHECK(odds[5] == doctest::Approx(std::log((4.0 + 1) / (2.0 + 1))));  // CC: 4 of 2
    DOCTEST_CHECK(odds[15] == doctest::Approx(0));                               // TT does not occur
    std::vector<float> logits(4);
    KmerBias::logits(odds, "AAACCNCC", logits);
    DOCTEST_CHECK(logits == std::vector<float>{odds[0], odds[1], odds[5], 0});
}

DOCTEST_TEST_CASE("a table of too many bases is refused") {
    DOCTEST_CHECK(testing::message_of<ConfigError>([] { KmerBias table(7); }) ==
                  "--bias kmers:N takes 1 to 6 bases, not 7");
}
