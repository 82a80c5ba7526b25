// SPDX-License-Identifier: Apache-2.0
#include "bigbird/core/progress.hpp"

#include "support/testing.hpp"

using bigbird::Progress;

DOCTEST_TEST_CASE("progress: durations read as people say them") {
    DOCTEST_CHECK(Progress::duration(0.04) == "0.0 s");
    DOCTEST_CHECK(Progress::duration(12.34) == "12.3 s");
    DOCTEST_CHECK(Progress::duration(245) == "4 min 05 s");
    DOCTEST_CHECK(Progress::duration(11220) == "3 h 07 min");
}

DOCTEST_TEST_CASE("progress: ends with the seconds that passed") {
    Progress progress("work", "steps", 10);
    progress.update(3);
    const double seconds = progress.end();
    DOCTEST_CHECK(seconds >= 0);
    DOCTEST_CHECK(seconds < 60);
}
