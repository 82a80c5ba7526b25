// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/long_sink.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("long_sink: a line for each score that is high enough") {
    const TempDir folder;
    const auto sink = outputs::long_sink(folder / "s.long.tsv", Overwrite::refuse, small_layout(), 0.25F, 1);
    write_rows(*sink, 3);
    sink->commit();
    DOCTEST_CHECK(read_file(folder / "s.long.tsv") ==
                  "##task=chromatin\n##min_score=0.25\n"
                  "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tindex\tgroup\tlabel\tvalue\n"
                  "1\t0\t200\t.\t.\t.\tok\t0\t2\tDHS\tA|B\t0.25\n"
                  "1\t200\t400\t.\t.\t.\tok\t0\t2\tDHS\tA|B\t0.25\n");
}
