// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/parts/shard.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <vector>

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

namespace {

/// The segments of items that weigh 1, in groups that stay together.
std::vector<std::int64_t> segments_of(std::int64_t items, std::int64_t parts, std::int64_t group = 1) {
    SegmentCounter counter(items, {1, parts});
    std::vector<std::int64_t> segments;
    for (std::int64_t i = 0; i < items; ++i)
        segments.push_back(counter.next(i % group != 0));
    return segments;
}

std::vector<std::int64_t> shares_of(const std::vector<std::int64_t>& segments, std::int64_t parts) {
    std::vector<std::int64_t> shares;
    for (std::int64_t part = 1; part <= parts; ++part) {
        const SegmentCounter counter(1, {part, parts});
        shares.push_back(std::ranges::count_if(segments, [&](std::int64_t s) { return counter.is_mine(s); }));
    }
    return shares;
}

}  // namespace

DOCTEST_TEST_CASE("segment counter: segments are numbered one after another, and every item is in one part") {
    for (const std::int64_t items : {1, 3, 26, 511, 512, 513, 7000, 100'000}) {
        const auto segments = segments_of(items, 4);
        DOCTEST_CAPTURE(items);
        DOCTEST_CHECK(segments.front() == 0);
        for (std::size_t i = 1; i < segments.size(); ++i) {
            const std::int64_t step = segments[i] - segments[i - 1];
            if (step != 0 && step != 1) DOCTEST_FAIL("a segment was left out");
        }
        DOCTEST_CHECK(segments.back() < 8 * SegmentCounter::segments_per_part);
        std::int64_t sum = 0;
        for (const std::int64_t share : shares_of(segments, 4))
            sum += share;
        DOCTEST_CHECK(sum == items);
    }
}

DOCTEST_TEST_CASE("segment counter: parts of much work differ by at most 5 percent") {
    for (const std::int64_t parts : {2, 3, 4, 7, 8, 100}) {
        for (const std::int64_t each : {60, 100, 128, 160, 192, 250, 320, 1344, 2000}) {
            for (const std::int64_t group : {1, 15, 48}) {
                // Groups of `group` items that stay together, `each` of them a part and some more.
                const std::int64_t items = (each * parts + parts / 3) * group;
                const auto shares = shares_of(segments_of(items, parts, group), parts);
                const double mean = static_cast<double>(items) / static_cast<double>(parts);
                const auto [least, most] = std::ranges::minmax(shares);
                if (static_cast<double>(most) > 1.05 * mean || static_cast<double>(least) < 0.95 * mean) {
                    DOCTEST_FAIL_CHECK(parts << " parts of " << each << " groups of " << group << ": "
                                             << least << " to " << most << " items");
                }
            }
        }
    }
}

DOCTEST_TEST_CASE("segment counter: what stays together is in one segment") {
    const auto segments = segments_of(7000, 4, 48);
    for (std::size_t i = 1; i < segments.size(); ++i)
        if (i % 48 != 0) DOCTEST_REQUIRE(segments[i] == segments[i - 1]);
    const auto shares = shares_of(segments, 4);
    const auto [least, most] = std::ranges::minmax(shares);
    DOCTEST_CHECK(most - least <= 2 * 48);  // 146 groups in four parts
}

DOCTEST_TEST_CASE("segment counter: few items go round, and weights count") {
    DOCTEST_CHECK(shares_of(segments_of(26, 4), 4) == std::vector<std::int64_t>{7, 7, 6, 6});
    SegmentCounter counter(1000 * 256, {1, 2});
    std::int64_t segment = 0;
    for (int i = 0; i < 256; ++i)
        segment = counter.next(false, 1000);
    DOCTEST_CHECK(segment == 255);
}
