// SPDX-License-Identifier: Apache-2.0
#include "bigbird/rows/region_rows.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <cmath>

using namespace bigbird;
using namespace bigbird::rows;

namespace {

std::unique_ptr<genome::ReferenceGenome> small_genome() {
    return genome::in_memory_genome(
        {{"1", "ACGTACGTAC" + std::string(10, 'N') + "GGGGGCCCCC"}, {"2", "TTTTTAAAAA"}});
}

std::vector<RegionRow> read_rows(const std::string& bed, RegionOptions options) {
    const testing::TempDir folder;
    testing::write_file(folder / "r.bed", bed);
    const auto genome = small_genome();
    RegionReader reader(folder / "r.bed", *genome, options);
    std::vector<RegionRow> rows;
    while (auto row = reader.next()) {
        reader.fill(*row);
        rows.push_back(std::move(*row));
    }
    DOCTEST_CHECK(reader.rows() == static_cast<std::int64_t>(rows.size()));
    return rows;
}

/// What is logged about the rows of a BED file.
std::string said(const std::string& bed, const RegionOptions& options) {
    const testing::TempDir folder;
    testing::write_file(folder / "r.bed", bed);
    const auto genome = small_genome();
    const testing::CapturedLog log;
    RegionReader reader(folder / "r.bed", *genome, options);
    while (reader.next()) {
    }
    reader.report();
    return log.text();
}

RegionOptions options_of(std::int64_t begin, std::int64_t end) {
    RegionOptions options;
    options.bounds = {begin, end};
    return options;
}

}  // namespace

DOCTEST_TEST_CASE("region_rows: each row has its window, its status and its share of N") {
    const auto rows =
        read_rows("chr1\t2\t6\tfirst\t5\t+\n2\t0\t2\n1\t8\t12\n1\t13\t17\n1\t28\t28\n", options_of(-2, 2));
    DOCTEST_REQUIRE(rows.size() == 5);
    DOCTEST_CHECK(rows[0].sequence == "GTAC");
    DOCTEST_CHECK(rows[0].head.where.contig == "chr1");
    DOCTEST_CHECK(rows[0].window.contig == "1");
    DOCTEST_CHECK(rows[0].head.name == "first");
    DOCTEST_CHECK(rows[0].head.score == "5");
    DOCTEST_CHECK(rows[0].head.status == RowStatus::ok);
    DOCTEST_CHECK(rows[1].sequence == "NTTT");
    DOCTEST_CHECK(rows[1].head.status == RowStatus::padded);
    DOCTEST_CHECK(rows[1].head.n_fraction == 0.25);
    DOCTEST_CHECK(rows[2].sequence == "ACNN");
    DOCTEST_CHECK(rows[2].head.status == RowStatus::has_n);
    DOCTEST_CHECK(rows[3].head.status == RowStatus::all_n);
    DOCTEST_CHECK(!is_scored(rows[3].head.status));
    DOCTEST_CHECK(rows[4].sequence == "CCCC");
}

DOCTEST_TEST_CASE("region_rows: rows without a summit, where summits are asked for, are said") {
    RegionOptions options = options_of(-2, 2);
    options.anchor = Anchor::summit;
    const std::string bed = "2\t0\t8\t.\t0\t.\t1\t1\t1\t5\n2\t0\t8\n";
    const auto rows = read_rows(bed, options);
    DOCTEST_CHECK(rows[0].window.begin == 3);
    DOCTEST_CHECK(rows[1].window.begin == 2);
    DOCTEST_CHECK(testing::holds(said(bed, options), "1 of 2 rows name no summit"));
}

DOCTEST_TEST_CASE("region_rows: rows without bases are said") {
    DOCTEST_CHECK(testing::holds(said("2\t0\t8\n2\t3\t3\n", {.anchor = Anchor::itself, .tile = 8}),
                                 "1 of 2 rows are empty (their start is their end)"));
}

DOCTEST_TEST_CASE("region_rows: a row whose last bin hangs over the contig's end is padded") {
    RegionOptions options;
    options.anchor = Anchor::itself;
    options.bin = 8;
    const auto rows = read_rows("2\t0\t8\n2\t2\t9\n2\t8\t10\n1\t22\t24\n1\t24\t30\n", options);
    std::string statuses;
    for (const RegionRow& row : rows)
        statuses += std::string(to_string(row.head.status)) + " ";
    DOCTEST_CHECK(statuses == "ok padded padded ok padded ");
}

DOCTEST_TEST_CASE("region_rows: windows of bins end where their contig does") {
    RegionOptions options = options_of(-4, 4);
    options.clip = true;
    const auto rows = read_rows("2\t0\t2\n2\t8\t10\n2\t2\t8\n", options);
    const auto bounds = [&](std::size_t i) { return std::pair(rows[i].window.begin, rows[i].window.end); };
    DOCTEST_CHECK(bounds(0) == std::pair<std::int64_t, std::int64_t>(0, 5));
    DOCTEST_CHECK(bounds(1) == std::pair<std::int64_t, std::int64_t>(5, 10));
    DOCTEST_CHECK(bounds(2) == std::pair<std::int64_t, std::int64_t>(1, 9));
    DOCTEST_CHECK(rows[1].sequence.size() == 5);
}

DOCTEST_TEST_CASE("region_rows: rows longer than their window are counted and said, tiles are not") {
    const std::string bed = "1\t2\t6\n1\t2\t7\n1\t0\t20\n";
    RegionOptions options = options_of(-2, 2);
    DOCTEST_CHECK(testing::holds(said(bed, options),
                                 "r.bed: 2 of 3 rows are longer than the model's window of 4 bases, "
                                 "around their middle only; --tile scores all of a row\n"));
    options.tile = 4;
    DOCTEST_CHECK(said(bed, options).empty());
}

DOCTEST_TEST_CASE("region_rows: the minus strand is reverse-complemented where strands count") {
    RegionOptions options = options_of(-2, 3);
    options.anchor = Anchor::automatic;
    const std::string bed = "1\t5\t6\ta\t.\t+\n1\t5\t6\tb\t.\t-\n";
    options.use_strand = true;
    auto rows = read_rows(bed, options);
    DOCTEST_CHECK(rows[0].sequence == "TACGT");  // 3..8
    DOCTEST_CHECK(rows[1].sequence == "ACGTA");  // 3..8 of the other strand: mirrored window [3, 8)
    DOCTEST_CHECK(rows[1].window.begin == 3);
    options.use_strand = false;
    rows = read_rows(bed, options);
    DOCTEST_CHECK(rows[1].sequence == "TACGT");
}

DOCTEST_TEST_CASE("region_rows: what is not on the reference is an error with file and line") {
    const auto message = [](const std::string& bed) {
        return testing::message_of<InputError>([&] { read_rows(bed, options_of(-2, 2)); });
    };
    DOCTEST_CHECK(testing::holds(message("9\t1\t2\nX\t1\t2\nX\t1\t2\n"),
                                 "r.bed:1: 3 of 3 regions do not fit the reference (3 on contigs that the "
                                 "reference lacks (X, 9)): are "
                                 "both of one assembly? --skip-invalid leaves such rows out and goes on"));
    DOCTEST_CHECK(testing::holds(message("chr2\t1\t11\n"), "(1 past a contig's end (2 has 10 bases))"));
    DOCTEST_CHECK(testing::holds(message("1\t5\t2\n"), "r.bed:1: "));
}

DOCTEST_TEST_CASE(
    "region_rows: few rows off the reference are marked and named, a fifth of them is too many") {
    std::string bed, names;
    const auto genome =
        genome::in_memory_genome({{"1", "ACGTACGTAC"}, {"2", "TTTTTAAAAA"}, {"3", "TTTTT"}, {"4", "TTTTT"}});
    const testing::TempDir folder;
    for (int i = 0; i < 16; ++i)
        bed += "1\t2\t6\n";
    for (int i = 0; i < 4; ++i)
        bed += "Un_" + std::to_string(i) + "\t0\t2\n";
    testing::write_file(folder / "r.bed", bed);
    testing::CapturedLog log;
    RegionReader reader(folder / "r.bed", *genome, options_of(-2, 2));
    std::int64_t marked = 0;
    while (const auto row = reader.next())
        marked += row->head.status == RowStatus::no_contig ? 1 : 0;
    reader.report();
    DOCTEST_CHECK(marked == 4);
    DOCTEST_CHECK(testing::holds(
        log.text(), "r.bed: 4 of 20 rows are no_contig (Un_0, Un_1, Un_2, Un_3) and have no scores"));
    testing::write_file(folder / "r.bed", bed + "Un_0\t0\t2\n");
    DOCTEST_CHECK(testing::holds(
        testing::message_of<InputError>([&] { RegionReader(folder / "r.bed", *genome, options_of(-2, 2)); }),
        "5 of 21 regions do not fit"));
}

DOCTEST_TEST_CASE("region_rows: regions as samtools writes them are rows") {
    const auto genome = small_genome();
    RegionReader reader("1:3-6 chr2 1:1,1-1,2", *genome, options_of(-2, 2));
    DOCTEST_CHECK(reader.total() == 3);
    std::vector<genome::Interval> regions;
    while (const auto row = reader.next()) {
        regions.push_back(row->head.where);
        DOCTEST_CHECK(row->line == static_cast<std::int64_t>(regions.size()));
    }
    DOCTEST_CHECK(regions == std::vector<genome::Interval>{{"1", 2, 6}, {"2", 0, 10}, {"1", 10, 12}});
    DOCTEST_CHECK_THROWS_AS(RegionReader("3:1-2", *genome, options_of(-2, 2)), ConfigError);
}

DOCTEST_TEST_CASE("region_rows: with skip_invalid such rows are marked, in their place") {
    RegionOptions options = options_of(-2, 2);
    options.skip_invalid = true;
    const auto rows = read_rows("1\t2\t6\n9\t1\t2\tx\n2\t1\t11\n1\tone\t2\n1 2 3\n2\t4\t6\n", options);
    DOCTEST_REQUIRE(rows.size() == 6);
    const std::vector expected{RowStatus::ok,        RowStatus::no_contig, RowStatus::bad_interval,
                               RowStatus::malformed, RowStatus::malformed, RowStatus::ok};
    for (std::size_t i = 0; i < rows.size(); ++i) {
        DOCTEST_CHECK(rows[i].head.status == expected[i]);
        DOCTEST_CHECK(is_scored(rows[i].head.status) == (expected[i] == RowStatus::ok));
        DOCTEST_CHECK(std::isnan(rows[i].head.n_fraction) == (expected[i] != RowStatus::ok));
        DOCTEST_CHECK(rows[i].line == static_cast<std::int64_t>(i) + 1);
    }
    DOCTEST_CHECK(rows[1].head.name == "x");
    DOCTEST_CHECK(rows[2].head.where == genome::Interval{"2", 1, 11});
    DOCTEST_CHECK(rows[3].head.as_read == std::vector<std::string>{"1", "one", "2", ".", ".", "."});
    DOCTEST_CHECK(rows[4].head.as_read == std::vector<std::string>{"1 2 3", ".", ".", ".", ".", "."});
}

DOCTEST_TEST_CASE("region_rows: a file that breaks off is an error even with skip_invalid") {
    const auto genome = genome::open_reference(testing::test_data("genome/22.fa.gz"));
    RegionOptions options = options_of(-100, 100);
    options.skip_invalid = true;
    DOCTEST_CHECK_THROWS_AS(
        RegionReader(testing::test_data("regions/malformed/truncated.bed.gz"), *genome, options), InputError);
}

DOCTEST_TEST_CASE("region_rows: as many rows come as were counted, by the reader's own rule for rows") {
    const testing::TempDir folder;
    testing::write_file(
        folder / "r.bed",
        "track name=x\ntracks\t0\t3\n\n \t\n#1\t0\t2\nbrowser\tx\n1\t0\t20\n1\t3\t3\n1\t4\t9\t.\t.\t-\n");
    const auto genome = genome::in_memory_genome({{"1", std::string(30, 'A')}, {"tracks", "CCC"}});
    const auto counted = [&](const RegionOptions& options) {
        RegionReader reader(folder / "r.bed", *genome, options);
        const std::int64_t total = reader.total();
        while (reader.next()) {
        }
        DOCTEST_CHECK(reader.rows() == total);
        return total;
    };
    RegionOptions options = options_of(-2, 2);
    DOCTEST_CHECK(counted(options) == 4);
    options.tile = 3;
    DOCTEST_CHECK(counted(options) == 1 + 7 + 1 + 2);
    options.tile_both_strands = true;
    DOCTEST_CHECK(counted(options) == 2 + 14 + 1 + 2);
    testing::write_file(folder / "r.bed", "1\t0\t3\nno BED\n1\t0\t3\n");
    options = options_of(-2, 2);
    options.skip_invalid = true;
    DOCTEST_CHECK(counted(options) == 3);
}

DOCTEST_TEST_CASE("region_rows: no rows are no error") {
    DOCTEST_CHECK(read_rows("# nothing\n\n", options_of(-2, 2)).empty());
}
