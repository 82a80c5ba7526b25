// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/window.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::rows;
using genome::Interval;
using genome::Strand;

DOCTEST_TEST_CASE("window: bounds are two offsets, the smaller first") {
    DOCTEST_CHECK(parse_window_bounds("-5000:3000") == WindowBounds{-5000, 3000});
    DOCTEST_CHECK(parse_window_bounds("-249:51").size() == 300);
    DOCTEST_CHECK(parse_window_bounds("0:16777216").size() == longest_window);
    DOCTEST_CHECK_THROWS_WITH(parse_window_bounds("-1:16777216"),
                              "window '-1:16777216' has more than 2^24 bases");
    DOCTEST_CHECK(to_string(WindowBounds{-249, 51}) == "-249:51");
    for (const char* text :
         {"", "8000", "3000:-5000", "5:5", "a:b", "-5000:3000:1", "-5000:", "-900000000:0"})
        DOCTEST_CHECK_THROWS_AS(parse_window_bounds(text), ConfigError);
}

DOCTEST_TEST_CASE("window: the TSS base counts as 0 on both strands") {
    const WindowBounds bounds{-2, 1};  // two bases upstream and the TSS base
    DOCTEST_CHECK(window_about_tss("1", 100, Strand::forward, bounds) == Interval{"1", 98, 101});
    DOCTEST_CHECK(window_about_tss("1", 100, Strand::reverse, bounds) == Interval{"1", 100, 103});
    DOCTEST_CHECK(window_about_tss("1", 100, Strand::reverse, {-5000, 3000}).size() == 8000);
    DOCTEST_CHECK(window_about_tss("1", 100, Strand::forward, {-5000, 3000}).begin == -4900);
}

DOCTEST_TEST_CASE("window: the TSS base of a wide row is its first in the direction of transcription") {
    DOCTEST_CHECK(tss_of({"1", 10, 70}, Strand::forward) == 10);
    DOCTEST_CHECK(tss_of({"1", 10, 70}, Strand::reverse) == 69);
    DOCTEST_CHECK(tss_of({"1", 10, 11}, Strand::reverse) == 10);
    DOCTEST_CHECK(tss_of({"1", 10, 10}, Strand::reverse) == 10);
}

DOCTEST_TEST_CASE("window: rows of one base are TSSs, longer ones are centred, unless it is said otherwise") {
    genome::BedRecord record;
    record.where = {"1", 100, 101};
    record.strand = Strand::reverse;
    const WindowBounds bounds{-30, 10};
    DOCTEST_CHECK(window_of(record, Anchor::automatic, bounds) ==
                  window_about_tss("1", 100, Strand::reverse, bounds));
    DOCTEST_CHECK(window_of(record, Anchor::centre, bounds) == Interval{"1", 80, 120});
    record.where = {"1", 100, 140};
    DOCTEST_CHECK(window_of(record, Anchor::automatic, bounds) == record.where);
    DOCTEST_CHECK(window_of(record, Anchor::tss, bounds) ==
                  window_about_tss("1", 139, Strand::reverse, bounds));
    DOCTEST_CHECK(window_of(record, Anchor::summit, bounds) == record.where);
    record.summit = 5;
    DOCTEST_CHECK(window_of(record, Anchor::summit, bounds) == Interval{"1", 85, 125});
}
