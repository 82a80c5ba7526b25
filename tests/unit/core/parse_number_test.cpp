// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parse_number.hpp"

#include "support/testing.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>

using bigbird::parse_number;

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
