// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/choice.hpp"

#include "support/testing.hpp"

#include <cstdint>

namespace {

using namespace bigbird;
using testing::message_of;

enum class Pool : std::uint8_t { none, mean, max };
constexpr Choices<Pool, 3> pools{{{Pool::none, "none"}, {Pool::mean, "mean"}, {Pool::max, "max"}}};

}  // namespace

DOCTEST_TEST_CASE("choice: every value has its word, every word its value") {
    for (const Pool pool : {Pool::none, Pool::mean, Pool::max})
        DOCTEST_CHECK(parse_choice(pools, "--pool", word_of(pools, pool)) == pool);
    DOCTEST_CHECK(word_of(pools, Pool::max) == "max");
}

DOCTEST_TEST_CASE("choice: another word is refused with all that there are") {
    DOCTEST_CHECK(message_of<ConfigError>([] { parse_choice(pools, "--pool", "most"); }) ==
                  "--pool is none, mean or max, not 'most'");
    DOCTEST_CHECK(message_of<ConfigError>([] { parse_choice(pools, "--pool", ""); }) ==
                  "--pool is none, mean or max, not ''");
    DOCTEST_CHECK(list_of_words(Choices<Pool, 2>{{{Pool::none, "off"}, {Pool::mean, "on"}}}) == "off or on");
}
