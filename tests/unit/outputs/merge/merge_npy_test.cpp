// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("merge npy: matrix and side tables have the bytes of one run") {
    for (const std::int64_t count : {1, 2, 5}) {
        const TempDir folder;
        write_scores(folder / "whole.npy", 1500, std::nullopt);
        const auto paths = write_parts(folder, ".npy", 1500, count);
        outputs::merge_scores(open_parts(paths, 1), folder / "merged.npy", Overwrite::refuse, 1);
        for (const char* ending : {".npy", ".rows.tsv", ".labels.tsv"}) {
            DOCTEST_CAPTURE(ending);
            DOCTEST_CHECK(read_file(folder / (std::string("whole") + ending)) ==
                          read_file(folder / (std::string("merged") + ending)));
        }
    }
}
