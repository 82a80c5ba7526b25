// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/whole_number.hpp"

#include "support/testing.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("whole_number: numbers that the type holds") {
    const Json json = Json::parse(R"({"a": 8, "b": -3, "c": 9223372036854775807, "d": 2147483647})");
    DOCTEST_CHECK(whole_number(json, "a") == 8);
    DOCTEST_CHECK(whole_number<int>(json, "b") == -3);
    DOCTEST_CHECK(whole_number(json, "c") == 9223372036854775807);
    DOCTEST_CHECK(whole_number<int>(json, "d") == 2147483647);
}

DOCTEST_TEST_CASE("whole_number: nothing is cut, rounded or made a number") {
    const Json json = Json::parse(
        R"({"cut": 4294967304, "rounded": 8.0, "yes": true, "text": "8", "none": null, "list": [8],
                                      "huge": 1e30, "beyond": 9223372036854775808})");
    for (const auto& item : json.items()) {
        DOCTEST_CAPTURE(item.key());
        DOCTEST_CHECK_THROWS_AS(whole_number<int>(json, item.key().c_str()), Json::type_error);
    }
    DOCTEST_CHECK(whole_number(json, "cut") == 4294967304);
    DOCTEST_CHECK_THROWS_WITH(whole_number(json, "rounded"),
                              doctest::Contains("'rounded' must be a whole number, not 8.0"));
    DOCTEST_CHECK_THROWS_AS(whole_number(json, "beyond"), Json::type_error);
    DOCTEST_CHECK_THROWS_AS(whole_number(json, "missing"), Json::out_of_range);
}

DOCTEST_TEST_CASE("whole_number: unsigned types hold no negative number") {
    const Json json = Json::parse(R"({"a": -1, "b": 18446744073709551615})");
    DOCTEST_CHECK_THROWS_AS(whole_number<std::uint64_t>(json, "a"), Json::type_error);
    DOCTEST_CHECK(whole_number<std::uint64_t>(json, "b") == 18446744073709551615U);
}
