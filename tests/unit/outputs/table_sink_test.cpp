// SPDX-License-Identifier: Apache-2.0
#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/outputs/some_scores.hpp"

#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/outputs/sinks.hpp"

#include <cmath>
#include <cstring>
#include <limits>

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

DOCTEST_TEST_CASE("table_sink: compressed where the name says so") {
    const TempDir folder;
    write_all(outputs::table_sink(folder / "s.tsv.gz", Overwrite::refuse, small_layout(), 1), 4);
    DOCTEST_CHECK(read_file(folder / "s.tsv.gz").starts_with("\x1f\x8b"));
    rows::ScoreReader reader(folder / "s.tsv.gz");
    rows::ScoreRow row;
    std::vector<float> values;
    int rows = 0;
    while (reader.next(row, values))
        ++rows;
    DOCTEST_CHECK(rows == 4);
    DOCTEST_CHECK(reader.columns() == std::vector<std::string>{"K562|CTCF", "002_A_B"});
}

DOCTEST_TEST_CASE("table_sink: CSV has a plain header, quotes, empty fields and no comment lines") {
    const TempDir folder;
    outputs::TableSchema schema = small_layout();
    schema.columns[1].name = "a \"b\", c";
    for (const char* name : {"s.csv", "s.csv.gz"}) {
        const auto sink = outputs::table_sink(folder / name, Overwrite::refuse, schema, 1);
        write_rows(*sink, 3);
        sink->write(rows::fields_of({.where = {"HLA,1", 100, 200}, .name = "x \"y\"", .score = "7"}),
                    std::vector<float>{0.5F, 1});
        sink->write(rows::fields_of({.where = {"NA", 1, 2}, .name = "NA"}), std::vector<float>{0.5F, 1});
        sink->write(rows::fields_of({.status = rows::RowStatus::malformed,
                                     .n_fraction = std::nan(""),
                                     .as_read = {".", ".", "x", "nan", ".", "."}}),
                    {});
        sink->commit();
    }
    DOCTEST_CHECK(read_file(folder / "s.csv") ==
                  "chrom,start,end,name,score,strand,status,n_fraction,K562|CTCF,\"a \"\"b\"\", c\"\n"
                  "1,0,200,.,,,ok,0,0,0.25\n"
                  "1,200,400,.,,,ok,0,0.0009765625,0.25\n"
                  "1,400,600,.,,,all_n,0,,\n"
                  "\"HLA,1\",100,200,\"x \"\"y\"\"\",7,,ok,0,0.5,1\n"
                  "NA,1,2,NA,,,ok,0,0.5,1\n"  // influenza's neuraminidase
                  ".,,x,nan,,,malformed,,,\n");
    DOCTEST_CHECK(read_file(folder / "s.csv.gz").starts_with("\x1f\x8b"));
    rows::ScoreReader reader(folder / "s.csv.gz");
    DOCTEST_CHECK(reader.columns() == std::vector<std::string>{"K562|CTCF", "a \"b\", c"});
    rows::ScoreRow row;
    std::vector<float> values;
    for (int i = 0; i < 3; ++i)
        DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.name == ".");
    DOCTEST_CHECK(std::isnan(values[1]));
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.contig == "HLA,1");
    DOCTEST_CHECK(row.name == "x \"y\"");
    DOCTEST_CHECK(values == std::vector<float>{0.5F, 1});
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.contig + row.name + row.score == "NANA.");
    DOCTEST_REQUIRE(reader.next(row, values));
    DOCTEST_CHECK(row.contig + row.begin + row.name + row.status == "..nanmalformed");
    DOCTEST_CHECK_FALSE(reader.next(row, values));
}

DOCTEST_TEST_CASE("table_sink: in CSV a record and a class may be called NA, and no class is empty") {
    const TempDir folder;
    const auto sink = outputs::table_sink(folder / "s.csv", Overwrite::refuse,
                                          {outputs::record_head(true), {{"NA"}}, {}}, 1);
    const auto write = [&](const char* id, std::string_view name, std::span<const float> values) {
        const rows::Row row{.where = {id, 0, 4}};
        const auto fields = rows::record_fields_of(row);
        std::vector<rows::Field> head(fields.begin(), fields.end());
        head.emplace_back(name);
        sink->write(head, values);
    };
    write("NA", "NA", std::vector<float>{1});
    write(".", "", {});
    sink->commit();
    DOCTEST_CHECK(read_file(folder / "s.csv") ==
                  "id,length,status,n_fraction,class,NA\nNA,4,ok,0,NA,1\n.,4,ok,0,,\n");
}

DOCTEST_TEST_CASE("table_sink: a table of regions is a BED file") {
    const TempDir folder;
    const auto sink = outputs::table_sink(folder / "s.tsv", Overwrite::refuse, small_layout(), 1);
    sink->write(rows::fields_of({.where = {"22", 100, 200}, .score = "7"}), std::vector<float>{0.5F, 1});
    sink->commit();
    const auto records = genome::read_bed(folder / "s.tsv");
    DOCTEST_REQUIRE(records.size() == 1);
    DOCTEST_CHECK(records[0].where == genome::Interval{"22", 100, 200});
    DOCTEST_CHECK(records[0].score == "7");
}

DOCTEST_TEST_CASE("table_sink: fields are spelt, those of a malformed line as they came") {
    constexpr double not_known = std::numeric_limits<double>::quiet_NaN();
    const auto spelt = [](const rows::Row& row) {
        std::string line;
        outputs::append_fields(line, rows::fields_of(row));
        return line;
    };
    DOCTEST_CHECK(spelt({.where = {"22", 100, 200},
                         .name = "one",
                         .score = "7",
                         .strand = genome::Strand::forward,
                         .n_fraction = 2.0 / 3}) == "22\t100\t200\tone\t7\t+\tok\t0.666667\t");
    DOCTEST_CHECK(
        spelt({.where = {"22", 3, 4}, .name = "", .status = rows::RowStatus::all_n, .n_fraction = 1}) ==
        "22\t3\t4\t.\t.\t.\tall_n\t1\t");
    DOCTEST_CHECK(spelt({.status = rows::RowStatus::malformed,
                         .n_fraction = not_known,
                         .as_read = {"X", "one", "02", ".", ".", "?"}}) ==
                  "X\tone\t02\t.\t.\t?\tmalformed\tNA\t");
}

DOCTEST_TEST_CASE("long_sink: a line for each score that is high enough") {
    const TempDir folder;
    write_all(outputs::long_sink(folder / "s.long.tsv", Overwrite::refuse, small_layout(), 0.25F, 1), 3);
    DOCTEST_CHECK(read_file(folder / "s.long.tsv") ==
                  "##task=chromatin\n##min_score=0.25\n"
                  "#chrom\tstart\tend\tname\tscore\tstrand\tstatus\tn_fraction\tindex\tgroup\tlabel\tvalue\n"
                  "1\t0\t200\t.\t.\t.\tok\t0\t2\tDHS\tA|B\t0.25\n"
                  "1\t200\t400\t.\t.\t.\tok\t0\t2\tDHS\tA|B\t0.25\n");
}

DOCTEST_TEST_CASE("long_sink: of several quantities all those of a label whose effect is large, named") {
    const TempDir folder;
    outputs::TableSchema schema{.head = {{"chrom"}, {"pos", outputs::FieldKind::integer}},
                                .effect = "log_odds"};
    for (const std::int64_t index : {3, 5})
        for (const char* quantity : {"ref", "log_odds", "p"})
            schema.columns.push_back({"", index, "TF", "l" + std::to_string(index), "", quantity});
    const auto sink = outputs::long_sink(folder / "s.long.tsv", Overwrite::refuse, schema, 0.5F, 1);
    const float nan = std::nanf("");
    const auto write = [&](std::int64_t position, const std::vector<float>& values) {
        sink->write(std::vector<rows::Field>{std::string_view("1"), position}, values);
    };
    write(7, {0.9F, -1.5F, nan, 0.9F, 0.25F, 0.75F});
    write(8, {0.9F, nan, 0.75F, 0.125F, 0.5F, 0.25F});
    write(9, {});
    sink->commit();
    DOCTEST_CHECK(read_file(folder / "s.long.tsv") ==
                  "##min_score=0.5\n##min_score_of=absolute log_odds\n"
                  "#chrom\tpos\tindex\tgroup\tlabel\tquantity\tvalue\n"
                  "1\t7\t3\tTF\tl3\tref\t0.9\n1\t7\t3\tTF\tl3\tlog_odds\t-1.5\n1\t7\t3\tTF\tl3\tp\tNA\n"
                  "1\t8\t5\tTF\tl5\tref\t0.125\n1\t8\t5\tTF\tl5\tlog_odds\t0.5\n1\t8\t5\tTF\tl5\tp\t0.25\n");
}

DOCTEST_TEST_CASE("npy_sink: NumPy's format, and side tables that tell rows and columns") {
    const TempDir folder;
    write_all(outputs::npy_sink(folder / "s.npy", Overwrite::refuse, small_layout()), 3);
    const std::string bytes = read_file(folder / "s.npy");
    DOCTEST_REQUIRE(bytes.size() == 128 + 3 * 2 * 4);
    DOCTEST_CHECK(bytes.substr(0, 10) == std::string("\x93NUMPY\x01\x00\x76\x00", 10));
    DOCTEST_CHECK(bytes.substr(10, 60) == "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), } ");
    DOCTEST_CHECK(bytes[127] == '\n');
    float values[6];
    std::memcpy(values, bytes.data() + 128, sizeof(values));
    DOCTEST_CHECK(values[2] == 1.0F / 1024);
    DOCTEST_CHECK(values[3] == 0.25F);
    DOCTEST_CHECK(std::isnan(values[5]));
    DOCTEST_CHECK(read_file(folder / "s.labels.tsv") ==
                  "column\tindex\tgroup\tname\tid\ttable_column\n"
                  "0\t0\tTF\tK562|CTCF\t000_K562_CTCF\tK562|CTCF\n1\t2\tDHS\tA|B\t002_A_B\t002_A_B\n");
    DOCTEST_CHECK(read_file(folder / "s.rows.tsv").ends_with("1\t400\t600\t.\t.\t.\tall_n\t0\n"));
}

DOCTEST_TEST_CASE("npy_sink: nothing is left without commit") {
    const TempDir folder;
    {
        const auto sink = outputs::npy_sink(folder / "s.npy", Overwrite::refuse, small_layout());
        write_rows(*sink, 3);
    }
    DOCTEST_CHECK(std::filesystem::is_empty(folder.path()));
}
