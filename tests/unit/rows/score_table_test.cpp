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
        "22,300,400,\"a,b\",,,all_n,NaN,\n");
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

DOCTEST_TEST_CASE("score_table: tables that pandas, R and Excel wrote anew") {
    const testing::TempDir folder;
    const auto rows = [&](const std::string& text) {
        testing::write_file(folder / "s.tsv", text);
        ScoreReader reader(folder / "s.tsv");
        std::string found = reader.columns().back() + ':';
        ScoreRow row;
        std::vector<float> values;
        while (reader.next(row, values))
            found += row.contig + ' ' + row.name + ' ' + (std::isnan(values.back()) ? "none" : "one") + ';';
        return found;
    };
    const std::string fields = "chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\t";
    for (const char* none : {"NA", "NaN", "nan", "", "None", "<NA>", "."}) {
        DOCTEST_CAPTURE(none);
        DOCTEST_CHECK(rows("#" + fields + "A\nNA\t1\t2\tnan\t.\t.\tok\t" + none + "\t" + none + "\n") ==
                      "A:NA nan none;");
    }
    const std::string one = "1\t1\t2\t\"x\"\t.\t.\tok\t0\t1\r\n";  // quotes as we write them: letters
    DOCTEST_CHECK(rows("\xEF\xBB\xBF" + fields + "A\r\n" + one) == "A:1 \"x\" one;");
    DOCTEST_CHECK(rows("\"#chrom\"\t" + fields.substr(6) + "\"A \"\"b\"\"\"\n" + one) == "A \"b\":1 x one;");
    const auto refused = [&](const std::string& text, const std::string& what) {
        const std::string message = testing::message_of<InputError>([&] { rows(text); });
        DOCTEST_CAPTURE(message);
        DOCTEST_CHECK(testing::holds(message, what));
    };
    const std::string indexed =
        "s.tsv:1: begins with a column of row numbers: write the table without it "
        "(index=False in pandas, row.names=FALSE in R)";
    refused("\t#" + fields + "A\n0\t" + one, indexed);
    refused("Unnamed: 0,chrom,start\n0,1,2\n", indexed);
    refused("#" + fields + "A\n" + one.substr(0, one.size() - 2),
            "s.tsv:2: has no line break at its end: the file is cut off, so write it again");
    refused("##min_score=0.5\n#" + fields + "index\tgroup\tlabel\tvalue\n",
            "s.tsv:2: is a long table, which lacks scores: give one with a column per label, .tsv or .csv");
    DOCTEST_CHECK(
        testing::holds(testing::message_of<InputError>([&] { ScoreReader(folder / "s.bw"); }),
                       "s.bw: is not read here: give scores as .tsv, .csv (each also .gz), .h5 or .npy"));
}

DOCTEST_TEST_CASE("score_table: in CSV of figures only missing numbers are empty") {
    DOCTEST_CHECK(csv_of("figure\tof\tvalue\tof\nauroc\tNA\tNA\tNA\nauroc\t#a,.\t1\t2\n", "r.csv") ==
                  "figure,of,value,of\nauroc,NA,,\nauroc,\"#a,.\",1,2\n");
    DOCTEST_CHECK(csv_of("##a=b\n#label\tbases\n.\tNA\n##x\t1\n", "r.csv") == "label,bases\n.,\n##x,1\n");
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
