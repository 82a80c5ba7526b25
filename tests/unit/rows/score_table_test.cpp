// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/score_table.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/regions/bed.hpp"

#include <cmath>
#include <limits>

using namespace bigbird;
using namespace bigbird::rows;

namespace {

void write_table(const std::filesystem::path& path) {
    ScoreWriter writer(path, Overwrite::refuse, {"A", "B"}, {{"model", "abc"}, {"window", "-5000:3000"}});
    writer.write({"22", "100", "200", "one", "7", "+", "ok", 0.0}, std::vector<float>{0.25F, 1.0F / 3.0F});
    writer.write({"22", "300", "400", "", "", "", "all_n", 1.0}, {});
    writer.write({"X", "1", "2", ".", ".", ".", "bad_interval", std::numeric_limits<double>::quiet_NaN()},
                 {});
    writer.commit();
}

}  // namespace

DOCTEST_TEST_CASE("score_table: provenance, header and rows as documented") {
    const testing::TempDir folder;
    write_table(folder / "scores.tsv");
    DOCTEST_CHECK(testing::read_file(folder / "scores.tsv") ==
                  "##model=abc\n##window=-5000:3000\n"
                  "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tA\tB\n"
                  "22\t100\t200\tone\t7\t+\tok\t0\t0.25\t0.33333334\n"
                  "22\t300\t400\t.\t.\t.\tall_n\t1\tNA\tNA\n"
                  "X\t1\t2\t.\t.\t.\tbad_interval\tNA\tNA\tNA\n");
    DOCTEST_CHECK(genome::read_bed(folder / "scores.tsv").size() == 3);  // a score table is a BED file
}

DOCTEST_TEST_CASE("score_table: read back as written, compressed too") {
    const testing::TempDir folder;
    write_table(folder / "scores.tsv.gz");
    ScoreReader reader(folder / "scores.tsv.gz");
    DOCTEST_CHECK(reader.columns() == std::vector<std::string>{"A", "B"});
    DOCTEST_CHECK(reader.provenance() == Provenance{{"model", "abc"}, {"window", "-5000:3000"}});
    ScoreRow row;
    std::vector<float> values;
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.name == "one");
    DOCTEST_CHECK(values == std::vector<float>{0.25F, 1.0F / 3.0F});
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.status == "all_n");
    DOCTEST_CHECK(std::isnan(values[1]));
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(std::isnan(row.n_fraction));
    DOCTEST_CHECK(!reader.next(row, values));
}

DOCTEST_TEST_CASE("score_table: a table that is not committed does not appear") {
    const testing::TempDir folder;
    {
        ScoreWriter writer(folder / "scores.tsv", Overwrite::refuse, {"A"}, {});
        writer.write({"22", "100", "200"}, std::vector<float>{0.5F});
    }
    DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
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
    DOCTEST_CHECK(message("##x=y\nchr1\t1\t2\n").find("s.tsv:2: is no score table") != std::string::npos);
    DOCTEST_CHECK(message("").find("is no score table") != std::string::npos);
    DOCTEST_CHECK(
        message(head + "1\t1\t2\t.\t.\t.\tok\t0\n").find("s.tsv:2: has 8 columns where the header has 9") !=
        std::string::npos);
    DOCTEST_CHECK(
        message(head + "1\t1\t2\t.\t.\t.\tok\t0\thigh\n").find("s.tsv:2: score 'high' in column A") !=
        std::string::npos);
}
