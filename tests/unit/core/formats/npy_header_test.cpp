// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/npy_header.hpp"

#include "support/testing.hpp"

#include "bigbird/core/formats/half.hpp"

#include <cmath>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>

using namespace bigbird;
using bigbird::npy_header;

DOCTEST_TEST_CASE("npy_header: the bytes of numpy.lib.format.write_array_header_1_0") {
    const std::string expected = std::string("\x93NUMPY\x01\x00\x76\x00", 10) +
                                 "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 919), }" +
                                 std::string(56, ' ') + "\n";
    DOCTEST_CHECK(npy_header("<f4", 3, 919) == expected);
}

DOCTEST_TEST_CASE("npy_header: any number of rows takes the same room, a multiple of 64 bytes") {
    for (const std::int64_t rows : {std::int64_t{0}, std::int64_t{1'000'000}, INT64_MAX}) {
        for (const std::size_t columns : {std::size_t{1}, std::numeric_limits<std::size_t>::max()}) {
            const std::string header = npy_header("|u1", rows, columns);
            DOCTEST_CHECK(header.size() == 128);
            DOCTEST_CHECK(header.back() == '\n');
            const std::string shape = "(" + std::to_string(rows) + ", " + std::to_string(columns) + "), }";
            DOCTEST_CHECK(header.find(shape) != std::string::npos);
        }
    }
}

DOCTEST_TEST_CASE("npy_header: a file is recognized by its header and its size") {
    const auto is = [](const std::string& file, std::string_view type, std::int64_t rows,
                       std::size_t columns) {
        return bigbird::is_npy_of(std::as_bytes(std::span(file)), type, rows, columns);
    };
    const std::string file = npy_header("<f4", 3, 2) + std::string(24, 'x');
    DOCTEST_CHECK(is(file, "<f4", 3, 2));
    DOCTEST_CHECK(is(npy_header("<f2", 0, 2), "<f2", 0, 2));
    DOCTEST_CHECK_FALSE(is(file, "<f4", 2, 3));
    DOCTEST_CHECK_FALSE(is(file, ">f4", 3, 2));
    DOCTEST_CHECK_FALSE(is(file + "x", "<f4", 3, 2));
    DOCTEST_CHECK_FALSE(is(file.substr(1), "<f4", 3, 2));
    DOCTEST_CHECK_FALSE(is("", "<f4", 3, 2));
    // 2^62 numbers of four bytes would take none.
    const std::int64_t rows = std::int64_t{1} << 62;
    DOCTEST_CHECK_FALSE(is(npy_header("<f4", rows, 1), "<f4", rows, 1));
}

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
