// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;

namespace {

/// Rows of 300 bp every 200 bp.
genome::Interval overlapping(std::int64_t i, std::int64_t) {
    return {"2", 200 * i, 200 * i + 300};
}

}  // namespace

DOCTEST_TEST_CASE("merge tracks: the bytes of one run") {
    for (const char* ending : {".bedgraph", ".bedgraph.gz", ".bw"}) {
        DOCTEST_CAPTURE(ending);
        for (const std::int64_t count : {1, 2, 5})
            DOCTEST_CHECK(merges(ending, 1200, count));
    }
}

DOCTEST_TEST_CASE("merge tracks: the largest of rows that overlap can be merged, their mean cannot") {
    DOCTEST_CHECK(merges(".bedgraph", 1200, 1, outputs::Overlap::mean, overlapping));
    const TempDir folder;
    const auto paths = write_parts(folder, ".bw", 1200, 2, outputs::Overlap::mean, overlapping);
    const std::string message = message_of<InputError>(
        [&] { outputs::merge_scores(open_parts(paths, 1), folder / "m.bw", Overwrite::refuse, 1); });
    DOCTEST_CHECK(message.find("rows of two parts overlap at 2:") != std::string::npos);
}
