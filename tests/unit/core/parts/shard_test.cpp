// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/shard.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;

DOCTEST_TEST_CASE("shard: I/N is read and written") {
    DOCTEST_CHECK(parse_shard("2/4") == Shard{2, 4});
    DOCTEST_CHECK(parse_shard("1/1") == Shard{1, 1});
    DOCTEST_CHECK(to_string(Shard{3, 40}) == "3/40");
}

DOCTEST_TEST_CASE("shard: what is no part is refused by name") {
    const auto refusal = [](const char* text) {
        return testing::message_of<ConfigError>([&] { parse_shard(text); });
    };
    for (const char* text : {"", "3", "/", "1/", "/4", "a/4", "1/4/2", "1.5/4", " 1/4"}) {
        DOCTEST_CAPTURE(text);
        DOCTEST_CHECK(refusal(text).find("must be I/N") != std::string::npos);
    }
    DOCTEST_CHECK(refusal("1/0") == "--shard 1/0: the number of parts must lie between 1 and 100000");
    DOCTEST_CHECK(refusal("1/-2").find("must lie between 1 and") != std::string::npos);
    DOCTEST_CHECK(refusal("5/4") == "--shard 5/4: there are parts 1 to 4");
    DOCTEST_CHECK(refusal("0/4") == "--shard 0/4: there are parts 1 to 4");
}
