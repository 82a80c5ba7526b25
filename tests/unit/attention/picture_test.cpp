// SPDX-License-Identifier: Apache-2.0
#include "bigbird/attention/picture.hpp"

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
