// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/pattern.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace bigbird::attention;

namespace {

/// Key block -> multiplicity, of one row.
std::map<int, int> row_of(const BlockLayout& layout, int row) {
    std::map<int, int> counts;
    const auto at = [&](int i) { return static_cast<std::size_t>(i); };
    for (int i = layout.row_offsets[at(row)]; i < layout.row_offsets[at(row + 1)]; ++i) {
        DOCTEST_CHECK(counts.emplace(layout.columns[at(i)], layout.multiplicity[at(i)]).second);
        DOCTEST_CHECK(
            (i == layout.row_offsets[at(row)] || layout.columns[at(i - 1)] < layout.columns[at(i)]));
    }
    return counts;
}

std::map<int, int> everything(int blocks) {
    std::map<int, int> counts;
    for (int block = 0; block < blocks; ++block) {
        counts[block] = 1;
    }
    return counts;
}

}  // namespace

DOCTEST_TEST_CASE("pattern: a uniform row holds the globals, its window and exactly r more, all once") {
    const PatternSpec spec;
    for (const int blocks : {12, 13, 16, 64}) {
        const BlockLayout layout = make_layout(spec, blocks, 1, 2);
        DOCTEST_REQUIRE(layout.rows() == blocks);
        DOCTEST_CHECK(row_of(layout, 0) == everything(blocks));
        DOCTEST_CHECK(row_of(layout, blocks - 1) == everything(blocks));
        for (int row = 1; row < blocks - 1; ++row) {
            const auto counts = row_of(layout, row);
            const std::set<int> fixed{0, blocks - 1, row - 1, row, row + 1};
            DOCTEST_CHECK(std::ranges::all_of(fixed, [&](int block) { return counts.contains(block); }));
            DOCTEST_CHECK(std::ranges::all_of(counts, [](const auto& item) { return item.second == 1; }));
            DOCTEST_CHECK(counts.size() == fixed.size() + 3);
        }
    }
}

DOCTEST_TEST_CASE("pattern: up to 5 + 2r blocks every row attends everything") {
    PatternSpec spec;
    for (int blocks = 1; blocks <= 11; ++blocks) {
        for (int row = 0; row < blocks; ++row) {
            DOCTEST_CHECK(row_of(make_layout(spec, blocks, 0, 0), row) == everything(blocks));
        }
    }
    DOCTEST_CHECK(row_of(make_layout(spec, 12, 0, 0), 5) != everything(12));
    spec.full = true;
    DOCTEST_CHECK(row_of(make_layout(spec, 64, 0, 0), 5) == everything(64));
}

DOCTEST_TEST_CASE(
    "pattern: hf counts block 0 1 + r times in the rows between the globals and draws nothing") {
    PatternSpec spec;
    spec.random_source = RandomSource::hf;
    const BlockLayout layout = make_layout(spec, 16, 0, 0);
    DOCTEST_CHECK(row_of(layout, 0) == everything(16));
    DOCTEST_CHECK(row_of(layout, 1) == std::map<int, int>{{0, 4}, {1, 1}, {2, 1}, {15, 1}});
    DOCTEST_CHECK(row_of(layout, 7) == std::map<int, int>{{0, 4}, {6, 1}, {7, 1}, {8, 1}, {15, 1}});
    DOCTEST_CHECK(row_of(layout, 14) == std::map<int, int>{{0, 4}, {13, 1}, {14, 1}, {15, 1}});
    DOCTEST_CHECK(row_of(layout, 15) == everything(16));
    DOCTEST_CHECK(layout == make_layout(spec, 16, 5, 3));
}

DOCTEST_TEST_CASE("pattern: globals placed first are the paper's leading blocks") {
    PatternSpec spec;
    spec.globals = GlobalPlacement::first;
    const BlockLayout layout = make_layout(spec, 20, 0, 0);
    DOCTEST_CHECK(row_of(layout, 0) == everything(20));
    DOCTEST_CHECK(row_of(layout, 1) == everything(20));
    const auto last = row_of(layout, 19);
    DOCTEST_CHECK(last.size() == 7);  // 2 globals, 2 of the window, 3 random
    for (const int block : {0, 1, 18, 19}) {
        DOCTEST_CHECK(last.contains(block));
    }
}

DOCTEST_TEST_CASE(
    "pattern: random blocks differ by seed, layer, head and row, and are uniform over what is free") {
    PatternSpec spec;
    const BlockLayout base = make_layout(spec, 64, 0, 0);
    DOCTEST_CHECK(base == make_layout(spec, 64, 0, 0));
    DOCTEST_CHECK(base != make_layout(spec, 64, 1, 0));
    DOCTEST_CHECK(base != make_layout(spec, 64, 0, 1));
    spec.random_seed = 1;
    DOCTEST_CHECK(base != make_layout(spec, 64, 0, 0));

    std::map<int, int> drawn;  // row 10 of 16 blocks: free are 1..8 and 12..14
    const int draws = 4400;
    for (int head = 0; head < draws; ++head) {
        for (const auto& [block, count] : row_of(make_layout(spec, 16, 0, head), 10)) {
            drawn[block] += count;
        }
    }
    double chi_squared = 0;
    for (const int block : {1, 2, 3, 4, 5, 6, 7, 8, 12, 13, 14}) {
        const double expected = draws * 3.0 / 11.0;
        chi_squared += (drawn[block] - expected) * (drawn[block] - expected) / expected;
    }
    DOCTEST_CHECK(chi_squared < 29.6);  // 10 degrees of freedom, p = 0.001
}

DOCTEST_TEST_CASE("pattern: version 1 of the uniform source never changes") {
    const BlockLayout layout = make_layout(PatternSpec{}, 64, 3, 5);
    const auto row = row_of(layout, 20);
    std::vector<int> random;
    for (const auto& item : row) {
        if (item.first != 0 && item.first != 63 && std::abs(item.first - 20) > 1) {
            random.push_back(item.first);
        }
    }
    DOCTEST_CHECK(random == std::vector<int>{2, 8, 37});
}

DOCTEST_TEST_CASE("pattern: what cannot be is refused") {
    using bigbird::ConfigError;
    PatternSpec even, nothing, hf;
    even.window_blocks = 4;
    DOCTEST_CHECK_THROWS_AS(even.validate(), ConfigError);
    nothing.window_blocks = nothing.random_blocks = nothing.global_blocks = 0;
    DOCTEST_CHECK_THROWS_AS(nothing.validate(), ConfigError);
    hf.random_source = RandomSource::hf;
    hf.globals = GlobalPlacement::first;
    DOCTEST_CHECK_THROWS_AS(hf.validate(), ConfigError);
    DOCTEST_CHECK_NOTHROW(PatternSpec{}.validate());
}

DOCTEST_TEST_CASE("pattern: the rows of the paper's Table 1, a part of BigBird each") {
    PatternSpec random, window, both;
    random.global_blocks = random.window_blocks = 0;
    window.global_blocks = window.random_blocks = 0;
    both.global_blocks = 0;
    for (int row = 2; row < 14; ++row) {
        DOCTEST_CHECK(row_of(make_layout(random, 16, 0, 0), row).size() == 3);
        DOCTEST_CHECK(row_of(make_layout(window, 16, 0, 0), row) ==
                      std::map<int, int>{{row - 1, 1}, {row, 1}, {row + 1, 1}});
        const auto all = row_of(make_layout(both, 16, 0, 0), row);
        DOCTEST_CHECK(all.size() == 6);
        DOCTEST_CHECK((all.contains(row - 1) && all.contains(row) && all.contains(row + 1)));
    }
}

DOCTEST_TEST_CASE("pattern: ETC is leading globals and a window, of any block size") {
    PatternSpec etc;
    etc.block_size = 84;
    etc.globals = GlobalPlacement::first;
    etc.global_blocks = 4;  // 256 global tokens
    etc.random_blocks = 0;
    DOCTEST_CHECK_NOTHROW(etc.validate());
    const BlockLayout layout = make_layout(etc, 20, 0, 0);
    for (int row = 0; row < 4; ++row) {
        DOCTEST_CHECK(row_of(layout, row) == everything(20));
    }
    DOCTEST_CHECK(row_of(layout, 10) ==
                  std::map<int, int>{{0, 1}, {1, 1}, {2, 1}, {3, 1}, {9, 1}, {10, 1}, {11, 1}});
}

DOCTEST_TEST_CASE("pattern: seeded picks count on top of what is attended already") {
    PatternSpec spec;
    spec.random_source = RandomSource::seeded;
    DOCTEST_CHECK(row_of(make_layout(spec, 64, 0, 0), 1) ==
                  std::map<int, int>{{0, 1}, {1, 1}, {2, 1}, {63, 1}, {7, 1}, {9, 1}, {14, 1}});
    int twice = 0;  // at 1,024 tokens picks may be the last block, which is global
    for (int head = 0; head < 12; ++head) {
        for (int row = 1; row < 15; ++row) {
            twice += row_of(make_layout(spec, 16, 0, head), row).at(15) - 1;
        }
    }
    DOCTEST_CHECK(twice == 38);
    PatternSpec hf = spec;
    hf.random_source = RandomSource::hf;
    DOCTEST_CHECK(make_layout(hf.in_training(), 64, 3, 2) == make_layout(spec, 64, 3, 2));
}
