// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("merge HDF5: the bytes of one run, beyond one chunk of rows, too") {
    for (const std::int64_t rows : {0, 5, 9000}) {
        for (const std::int64_t count : {1, 3}) {
            DOCTEST_CAPTURE(rows);
            DOCTEST_CHECK(merges(".h5", rows, count));
        }
    }
}
