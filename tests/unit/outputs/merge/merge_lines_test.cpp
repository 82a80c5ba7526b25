// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"
#include "unit/outputs/merge/merged_parts.hpp"

#include "bigbird/core/error.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("merge lines: tables and long tables have the bytes of one run") {
    for (const char* ending : {".tsv", ".tsv.gz", ".csv", ".csv.gz", ".long.tsv", ".long.tsv.gz"}) {
        DOCTEST_CAPTURE(ending);
        for (const std::int64_t count : {1, 2, 3, 7})
            DOCTEST_CHECK(merges(ending, 2000, count));
        DOCTEST_CHECK(merges(ending, 3, 5));  // two parts are empty
        DOCTEST_CHECK(merges(ending, 0, 2));
    }
}

DOCTEST_TEST_CASE("merge lines: a part says which part it is") {
    const TempDir folder;
    write_scores(folder / "p.tsv", 10, Shard{1, 2});
    DOCTEST_CHECK(read_file(folder / "p.tsv").find("\n##shard=1/2\n#chrom") != std::string::npos);
}

DOCTEST_TEST_CASE("merge lines: a record of other lines than there are") {
    for (const char* ending : {".tsv", ".tsv.gz", ".csv"}) {
        DOCTEST_CAPTURE(ending);
        check_miscounts(ending, "holds other lines than its .part.json counts");
    }
}
