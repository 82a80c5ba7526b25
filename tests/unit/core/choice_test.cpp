// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/choice.hpp"

#include "support/testing.hpp"

#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/ranked_bits.hpp"
#include "bigbird/core/rng.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

using namespace bigbird;
using bigbird::parse_number;

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

DOCTEST_TEST_CASE("parse_number: the whole text is the number, or there is none") {
    DOCTEST_CHECK(parse_number<std::int64_t>("-12") == -12);
    DOCTEST_CHECK(parse_number<std::int64_t>("007") == 7);
    for (const char* text : {"", "-", "+1", " 1", "1 ", "1\n", "1e3", "0x1", "1.0", "1,000"}) {
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(!parse_number<std::int64_t>(text));
    }
    const std::string with_end("12\0", 3);
    DOCTEST_CHECK(!parse_number<std::int64_t>(with_end));
    DOCTEST_CHECK(parse_number<int>(std::string_view("1234").substr(1, 2)) == 23);
}

DOCTEST_TEST_CASE("parse_number: a type's range ends exactly where it ends") {
    DOCTEST_CHECK(parse_number<std::int64_t>("9223372036854775807") == INT64_MAX);
    DOCTEST_CHECK(parse_number<std::int64_t>("-9223372036854775808") == INT64_MIN);
    DOCTEST_CHECK(!parse_number<std::int64_t>("9223372036854775808"));
    DOCTEST_CHECK(parse_number<std::int32_t>("2147483647") == INT32_MAX);
    DOCTEST_CHECK(!parse_number<std::int32_t>("2147483648"));
    DOCTEST_CHECK(!parse_number<std::size_t>("-1"));
}

DOCTEST_TEST_CASE("parse_number: reals in C notation, to the nearest value") {
    DOCTEST_CHECK(parse_number<double>("1e-3") == 0.001);
    DOCTEST_CHECK(parse_number<float>("0.33333334") == 1.0F / 3.0F);
    DOCTEST_CHECK(std::isinf(parse_number<double>("-inf").value_or(0)));
    DOCTEST_CHECK(std::isnan(parse_number<float>("nan").value_or(0)));
    for (const char* text : {"", "1,5", "1.5x", ".", "e3", "1e999"}) {
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(!parse_number<double>(text));
    }
}

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
        for (std::int64_t i = 0; i < bits.size(); i += 7)
            DOCTEST_CHECK(bits.ones_before(i) == std::ranges::lower_bound(places, i) - places.begin());
    }
    DOCTEST_CHECK(RankedBits().ones() == 0);
}
