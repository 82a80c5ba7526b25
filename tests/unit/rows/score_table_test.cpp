// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/score_table.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::rows;

DOCTEST_TEST_CASE("score_table: provenance, columns and rows are read as they stand") {
    const testing::TempDir folder;
    testing::write_file(folder / "scores.tsv",
                        "##model=abc\n##window=-5000:3000\n"
                        "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tA\tB\n"
                        "22\t100\t200\tone\t7\t+\tok\t0\t0.25\t0.33333334\n"
                        "22\t300\t400\t.\t.\t.\tall_n\t1\tNA\tNA\n"
                        "X\tone\t02\t.\t.\t?\tmalformed\tNA\tNA\tNA\n");
    ScoreReader reader(folder / "scores.tsv");
    DOCTEST_CHECK(reader.columns() == std::vector<std::string>{"A", "B"});
    DOCTEST_CHECK(reader.provenance() == Provenance{{"model", "abc"}, {"window", "-5000:3000"}});
    DOCTEST_CHECK(value_of(reader.provenance(), "window") == "-5000:3000");
    ScoreRow row;
    std::vector<float> values;
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.name == "one");
    DOCTEST_CHECK(values == std::vector<float>{0.25F, 1.0F / 3.0F});
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.status == "all_n");
    DOCTEST_CHECK(std::isnan(values[1]));
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.end == "02");
    DOCTEST_CHECK(std::isnan(row.n_fraction));
    DOCTEST_CHECK(!reader.next(row, values));
}

DOCTEST_TEST_CASE("score_table: CSV is read, too, as R and pandas write it") {
    const testing::TempDir folder;
    testing::write_file(
        folder / "scores.csv",
        "\"chrom\",\"start\",\"end\",\"name\",\"score\",\"strand\",\"status\",\"n_fraction\",\"A\"\n"
        "\"22\",100,200,NA,,\"+\",\"ok\",0,0.25\n"
        "22,300,400,\"a,b\",,,all_n,,\n");
    ScoreReader reader(folder / "scores.csv");
    DOCTEST_CHECK(reader.columns() == std::vector<std::string>{"A"});
    ScoreRow row;
    std::vector<float> values;
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.contig == "22");
    DOCTEST_CHECK(row.score == ".");
    DOCTEST_CHECK(values == std::vector<float>{0.25F});
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.name == "a,b");
    DOCTEST_CHECK(std::isnan(row.n_fraction));
    DOCTEST_CHECK(std::isnan(values[0]));
}

DOCTEST_TEST_CASE("score_table: provenance is a line each") {
    DOCTEST_CHECK(provenance_lines({{"model", "a\tb\nc"}, {"window", "1"}}) == "##model=a b c\n##window=1\n");
}

DOCTEST_TEST_CASE("score_table: faults are named with file and line") {
    const testing::TempDir folder;
    const std::string head = "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tA\n";
    const auto message = [&](const std::string& text) {
        testing::write_file(folder / "s.tsv", text);
        return testing::message_of<InputError>([&] {
            ScoreReader reader(folder / "s.tsv");
            ScoreRow row;
            std::vector<float> values;
            while (reader.next(row, values)) {
            }
        });
    };
    DOCTEST_CHECK(testing::holds(message("##x=y\nchr1\t1\t2\n"), "s.tsv:2: is no score table"));
    DOCTEST_CHECK(testing::holds(message(""), "is no score table"));
    DOCTEST_CHECK(testing::holds(message(head + "1\t1\t2\t.\t.\t.\tok\t0\n"),
                                 "s.tsv:2: has 8 columns where the header has 9"));
    DOCTEST_CHECK(
        testing::holds(message("chrom,start,end,name,score,strand,status,n_fraction,A\n1,1,2,\"a,,,ok,0,1\n"),
                       "s.tsv:2: has a quote that does not end on the line"));
    DOCTEST_CHECK(testing::holds(message(head + "1\t1\t2\t.\t.\t.\tok\t0\thigh\n"),
                                 "s.tsv:2: score 'high' in column A"));
}
