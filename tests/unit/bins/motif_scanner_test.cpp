// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motif_scanner.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::bins;

namespace {

/// The sum of a site's letters in the motif's order; the site is turned where it is the other strand's.
float sum_of(std::span<const float> odds, std::vector<std::uint8_t> site, bool reverse) {
    float sum = 0;
    for (std::size_t i = 0; i < site.size(); ++i) {
        const std::size_t place = reverse ? site.size() - 1 - i : i;
        const std::span<const float> here = odds.subspan(place * 4, 4);
        const float mean = (here[0] + here[1] + here[2] + here[3]) / 4;
        sum += site[i] == 4 ? mean : here[reverse ? 3U - site[i] : site[i]];
    }
    return sum;
}

}  // namespace

DOCTEST_TEST_CASE("motif_scanner: the first best site of both strands, as summed letter by letter") {
    Rng rng = Rng(5).split("scanner");
    for (int repeat = 0; repeat < 50; ++repeat) {
        const std::int64_t width = rng.between(9, 21), length = rng.between(width, 60);
        std::vector<float> odds(static_cast<std::size_t>(width) * 4);
        for (float& value : odds)
            value = static_cast<float>(rng.between(-8, 8)) / 4;  // exact sums, with ties
        std::vector<std::uint8_t> codes(static_cast<std::size_t>(length));
        for (std::uint8_t& code : codes)
            code = static_cast<std::uint8_t>(std::min<std::int64_t>(4, rng.between(0, 20) / 5));
        Site expected;
        for (std::int64_t begin = 0; begin + width <= length; ++begin) {
            for (const bool reverse : {false, true}) {
                const float score =
                    sum_of(odds, {codes.begin() + begin, codes.begin() + begin + width}, reverse);
                if (score > expected.score) expected = {score, begin, reverse};
            }
        }
        const Site found = MotifScanner(odds, width).best(codes);
        DOCTEST_CHECK(found.score == expected.score);
        DOCTEST_CHECK(found.begin == expected.begin);
        DOCTEST_CHECK(found.reverse == expected.reverse);
    }
}
