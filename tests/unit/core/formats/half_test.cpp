// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/half.hpp"

#include "support/testing.hpp"

#include <cmath>
#include <cstdint>
#include <limits>

using namespace bigbird;

namespace {

double value_of(std::uint16_t half) {
    const int exponent = half >> 10 & 31, fraction = half & 1023;
    const double size =
        exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    return (half & 0x8000) != 0 ? -size : size;
}

}  // namespace

DOCTEST_TEST_CASE("half: every half-precision number is itself") {
    for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {
        const auto half = static_cast<std::uint16_t>(bits);
        if ((half & 0x7c00) == 0x7c00) continue;  // infinite or none
        if (half_of(static_cast<float>(value_of(half))) != half) DOCTEST_FAIL("half " << bits);
    }
}

DOCTEST_TEST_CASE("half: what lies between two goes to the nearer, a tie to the even one") {
    for (std::uint16_t half = 0; half < 0x7bff; ++half) {
        const double low = value_of(half), high = value_of(static_cast<std::uint16_t>(half + 1));
        const auto middle = static_cast<float>((low + high) / 2);
        const auto even = static_cast<std::uint16_t>(half + half % 2),
                   next = static_cast<std::uint16_t>(half + 1);
        const float infinite = std::numeric_limits<float>::infinity();
        if (half_of(middle) != even || half_of(std::nextafterf(middle, 0)) != half ||
            half_of(std::nextafterf(middle, infinite)) != next ||
            half_of(-middle) != static_cast<std::uint16_t>(even | 0x8000))
            DOCTEST_FAIL("behind half " << half);
    }
}

DOCTEST_TEST_CASE("half: what is too large is infinite, and NaN stays NaN") {
    DOCTEST_CHECK(half_of(65519.99F) == 0x7bff);
    DOCTEST_CHECK(half_of(65520.0F) == 0x7c00);
    DOCTEST_CHECK(half_of(-std::numeric_limits<float>::infinity()) == 0xfc00);
    DOCTEST_CHECK((half_of(std::numeric_limits<float>::quiet_NaN()) & 0x7fff) > 0x7c00);
    DOCTEST_CHECK(half_of(0.1F) == 0x2e66);  // numpy.float16(0.1).view('uint16')
}
