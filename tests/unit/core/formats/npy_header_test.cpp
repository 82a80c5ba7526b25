// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/npy_header.hpp"

#include "support/testing.hpp"

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
