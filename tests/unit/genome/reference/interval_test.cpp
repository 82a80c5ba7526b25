// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/interval.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <limits>

using namespace bigbird;
using namespace bigbird::genome;

namespace {

constexpr std::int64_t open_end = std::numeric_limits<std::int64_t>::max();

}  // namespace

DOCTEST_TEST_CASE("interval: regions are read as samtools reads them") {
    DOCTEST_CHECK(parse_region("22") == Interval{"22", 0, open_end});
    DOCTEST_CHECK(parse_region("22:16050001") == Interval{"22", 16'050'000, open_end});
    DOCTEST_CHECK(parse_region("22:16,050,001-17,000,000") == Interval{"22", 16'050'000, 17'000'000});
    DOCTEST_CHECK(parse_region("22:-100") == Interval{"22", 0, 100});
    DOCTEST_CHECK(parse_region("22:100-") == Interval{"22", 99, open_end});
    DOCTEST_CHECK(parse_region("22:7-7") == Interval{"22", 6, 7});
}

DOCTEST_TEST_CASE("interval: a contig's name may hold a colon") {
    DOCTEST_CHECK(parse_region("HLA-A*01:01:01N") == Interval{"HLA-A*01:01:01N", 0, open_end});
    DOCTEST_CHECK(parse_region("HLA-A*01:01:01:01") == Interval{"HLA-A*01:01:01:01", 0, open_end});
    DOCTEST_CHECK(parse_region("HLA-A*01:01:01N:5-9") == Interval{"HLA-A*01:01:01N", 4, 9});
    DOCTEST_CHECK(parse_region("{HLA-A*01:01}") == Interval{"HLA-A*01:01", 0, open_end});
    DOCTEST_CHECK(parse_region("{HLA-A*01:01}:5-9") == Interval{"HLA-A*01:01", 4, 9});
}

DOCTEST_TEST_CASE("interval: what is no region is refused with an example of one") {
    for (const char* text : {"", ":5-9", "22:0-10", "22:9-5", "22:5-9-11", "22:99999999999999999999", "{22",
                             "{22}5", "{22}:x", "22:,5"}) {
        DOCTEST_CAPTURE(text);
        const std::string message = testing::message_of<ConfigError>([&] { parse_region(text); });
        DOCTEST_CHECK(message.find(std::string("region '") + text + "': ") == 0);
        DOCTEST_CHECK(message.find("as in 22:16,050,001-17,000,000") != std::string::npos);
    }
}

DOCTEST_TEST_CASE("interval: windows lie about the middle") {
    DOCTEST_CHECK(window_around({"a", 100, 200}, 1000) == Interval{"a", -350, 650});
    DOCTEST_CHECK(window_around({"a", 100, 101}, 4) == Interval{"a", 98, 102});
    DOCTEST_CHECK(window_around({"a", 100, 101}, 5) == Interval{"a", 98, 103});
    DOCTEST_CHECK(window_around({"a", 7, 7}, 2) == Interval{"a", 6, 8});
    DOCTEST_CHECK(window_around({"a", -3, 0}, 2) == Interval{"a", -3, -1});  // floor(-1.5) is -2
    DOCTEST_CHECK(to_string(Interval{"22", -5, 10}) == "22:-5-10");
}
