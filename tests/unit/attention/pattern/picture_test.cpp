// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/pattern/picture.hpp"

#include "support/testing.hpp"

#include <algorithm>

using namespace bigbird::attention;

DOCTEST_TEST_CASE("picture: transformers' evaluation, where block 0 counts more") {
    PatternSpec spec;
    spec.random_blocks = 1;
    spec.random_source = RandomSource::hf;
    DOCTEST_CHECK(picture(spec, make_layout(spec, 8, 0, 0)) ==
                  "########\n"
                  "2oo....#\n"
                  "2ooo...#\n"
                  "2.ooo..#\n"
                  "2..ooo.#\n"
                  "2...ooo#\n"
                  "2....oo#\n"
                  "########\n");
}

DOCTEST_TEST_CASE("picture: random blocks are stars, as many as asked for") {
    const PatternSpec spec;
    const BlockLayout layout = make_layout(spec, 16, 0, 0);
    const std::string text = picture(spec, layout);
    DOCTEST_CHECK(std::ranges::count(text, '*') == 14 * 3);
    DOCTEST_CHECK(std::ranges::count(text, 'o') == 14 * 3 - 2);
    const LayoutCost cost = cost_of(spec, layout);
    DOCTEST_CHECK(cost.pairs == 2 * 16 + 2 * 7 + 12 * 8);
    DOCTEST_CHECK(cost.keys_per_query == doctest::Approx(142.0 / 16 * 64));
    DOCTEST_CHECK(cost.share_of_full == doctest::Approx(142.0 / 256));
}

DOCTEST_TEST_CASE("picture: a drawing has a cell a block that is attended") {
    const PatternSpec spec = named_pattern("bigbird");
    const BlockLayout layout = make_layout(spec, 16, 0, 0);
    const std::string svg = svg_picture(spec, layout, "t");
    std::size_t cells = 0;
    for (std::size_t at = svg.find("width='20'"); at != std::string::npos;
         at = svg.find("width='20'", at + 1)) {
        ++cells;
    }
    DOCTEST_CHECK(cells == layout.columns.size());
    DOCTEST_CHECK(svg.find(">random<") != std::string::npos);
}

DOCTEST_TEST_CASE("picture: named patterns cost what the paper says") {
    const auto pairs = [](const char* name) {
        const PatternSpec spec = named_pattern(name);
        return cost_of(spec, make_layout(spec, 64, 0, 0)).pairs;
    };
    DOCTEST_CHECK(pairs("full") == 64 * 64);
    DOCTEST_CHECK(pairs("window") == 64 * 3 - 2);
    DOCTEST_CHECK(pairs("random") == 64 * 3);
    DOCTEST_CHECK(pairs("random+window") == 64 * 6 - 2);
    DOCTEST_CHECK(pairs("bigbird") == 2 * 64 + 2 * 7 + 60 * 8);
    DOCTEST_CHECK(pairs("sliding") == 64 * 9 - 2 * (1 + 2 + 3 + 4));
}
