// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/grid.hpp"

#include "support/testing.hpp"

using namespace bigbird::bins;

DOCTEST_TEST_CASE("grid: every bin stands in the core of one window, at its bases") {
    const Grid grid{.bin = 200, .window_bins = 10, .margin_bins = 2};
    DOCTEST_CHECK(grid.core_bins() == 6);
    DOCTEST_CHECK(grid.begin_of(0) == -400);
    for (std::int64_t bin = 0; bin < 100; ++bin) {
        const std::int64_t place = grid.place_of(bin);
        DOCTEST_CHECK(place >= grid.margin_bins);
        DOCTEST_CHECK(place < grid.window_bins - grid.margin_bins);
        DOCTEST_CHECK(grid.begin_of(grid.window_of(bin)) + place * grid.bin == bin * grid.bin);
    }
}

DOCTEST_TEST_CASE("grid: an interval takes bins by the bases that it shares with them") {
    using Shares = std::vector<BinShare>;
    DOCTEST_CHECK((shares_of(200, 400, 200) == Shares{{1, 1}}));
    DOCTEST_CHECK((shares_of(399, 400, 200) == Shares{{1, 1}}));
    DOCTEST_CHECK((shares_of(400, 400, 200) == Shares{{2, 1}}));
    DOCTEST_CHECK((shares_of(150, 650, 200) == Shares{{0, 0.1}, {1, 0.4}, {2, 0.4}, {3, 0.1}}));
}
