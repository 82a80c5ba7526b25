// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/formats/npy_header.hpp"

#include "support/testing.hpp"

#include <limits>
#include <string>

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
