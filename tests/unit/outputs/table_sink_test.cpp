// SPDX-License-Identifier: Apache-2.0
#include "bigbird/outputs/table_sink.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

using namespace bigbird;
using namespace bigbird::testing;

DOCTEST_TEST_CASE("table_sink: the table that evaluation reads") {
    const TempDir folder;
    const auto sink = outputs::table_sink(folder / "s.tsv", Overwrite::refuse, small_layout(), 1);
    write_rows(*sink, 3);
    DOCTEST_CHECK_FALSE(std::filesystem::exists(folder / "s.tsv"));
    sink->commit();
    DOCTEST_CHECK(read_file(folder / "s.tsv") ==
                  "##task=chromatin\n"
                  "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tK562|CTCF\t002_A_B\n"
                  "1\t0\t200\t.\t.\t.\tok\t0\t0\t0.25\n"
                  "1\t200\t400\t.\t.\t.\tok\t0\t0.0009765625\t0.25\n"
                  "1\t400\t600\t.\t.\t.\tall_n\t0\tNA\tNA\n");
    rows::ScoreReader reader(folder / "s.tsv");
    rows::ScoreRow row;
    std::vector<float> values;
    DOCTEST_CHECK(reader.next(row, values));
    DOCTEST_CHECK(values == std::vector<float>{0, 0.25F});
}
