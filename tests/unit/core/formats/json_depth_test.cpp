// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/json_depth.hpp"

#include "support/testing.hpp"

#include <string>

using bigbird::deepest_json;
using bigbird::nests_too_deeply;

DOCTEST_TEST_CASE("json_depth: counts levels of lists and objects, those that are open at once") {
    const std::string open(deepest_json, '['), closed(deepest_json, ']');
    DOCTEST_CHECK_FALSE(nests_too_deeply(""));
    DOCTEST_CHECK_FALSE(nests_too_deeply(open + closed + "," + open + closed));
    DOCTEST_CHECK(nests_too_deeply('{' + open + closed + '}'));
}

DOCTEST_TEST_CASE("json_depth: brackets within strings do not count, whatever is escaped there") {
    const std::string many(1000, '[');
    DOCTEST_CHECK_FALSE(nests_too_deeply('"' + many + '"'));
    DOCTEST_CHECK_FALSE(nests_too_deeply("\"\\\"" + many + '"'));
    DOCTEST_CHECK(nests_too_deeply("\"\\\\\"" + many));
}
