// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/bed.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"

#include <array>
#include <string>
#include <utility>

using namespace bigbird;
using namespace bigbird::genome;

DOCTEST_TEST_CASE(
    "bed: three to twelve columns and narrowPeak, with headers, comments, CRLF and no last newline") {
    const auto records = read_bed(testing::test_data("regions/kinds.bed"));
    DOCTEST_REQUIRE(records.size() == 6);
    DOCTEST_CHECK(records[0].where == Interval{"chr22", 17'000'000, 17'000'500});
    DOCTEST_CHECK(records[0].name == ".");
    DOCTEST_CHECK(records[0].score == ".");
    DOCTEST_CHECK(records[0].strand == Strand::none);
    DOCTEST_CHECK(records[0].line == 5);
    DOCTEST_CHECK(records[1].name == "four");
    DOCTEST_CHECK(records[2].score == "0.5");
    DOCTEST_CHECK(records[3].strand == Strand::reverse);
    DOCTEST_CHECK(records[4].strand == Strand::forward);
    DOCTEST_CHECK(records[4].summit == std::nullopt);
    DOCTEST_CHECK(records[5].strand == Strand::none);
    DOCTEST_CHECK(records[5].summit == 120);
    DOCTEST_CHECK(records[5].line == 10);
}

DOCTEST_TEST_CASE("bed: contigs may be called as the lines for browsers") {
    const testing::TempDir folder;
    testing::write_file(folder / "x.bed",
                        "browser position chr1:1-2\ntrack\ntrack name=x\ntrack1\t1\t2\ntrack\t3\t4\n");
    const auto records = read_bed(folder / "x.bed");
    DOCTEST_REQUIRE(records.size() == 2);
    DOCTEST_CHECK(records[0].where == Interval{"track1", 1, 2});
    DOCTEST_CHECK(records[1].where == Interval{"track", 3, 4});
}

DOCTEST_TEST_CASE("bed: regions instead of a file, and a file that has a region's name") {
    const auto genome = in_memory_genome({{"22", std::string(50, 'A')}, {"X", "ACGT"}});
    BedReader reader("chr22:11-20 X 22:1,0-99", *genome);
    DOCTEST_CHECK(reader.can_be_read_again());
    DOCTEST_CHECK(reader.next()->where == Interval{"22", 10, 20});
    DOCTEST_CHECK(reader.next()->where == Interval{"X", 0, 4});
    DOCTEST_CHECK(reader.line_number() == 2);
    DOCTEST_CHECK(reader.next()->where == Interval{"22", 9, 50});  // cut at the end
    DOCTEST_CHECK_FALSE(reader.next());
    const auto refusal = [&](const std::string& text) {
        return testing::message_of<ConfigError>([&] { BedReader(text, *genome, "--regions"); });
    };
    DOCTEST_CHECK(refusal("rows.bed") ==
                  "--regions 'rows.bed' is neither a contig or region of the reference nor a BED file");
    DOCTEST_CHECK(refusal("X -").starts_with("--regions takes one BED file or several regions, not '-'"));
    DOCTEST_CHECK(testing::message_of<InputError>([&] { BedReader("no/rows.bed", *genome); }) ==
                  "no/rows.bed: no such file");
    const testing::TempDir folder;
    testing::write_file(folder / "X", "22\t1\t2\n");
    const auto here = std::filesystem::current_path();
    std::filesystem::current_path(folder.path());
    DOCTEST_CHECK(BedReader("X", *genome).next()->where == Interval{"22", 1, 2});
    std::filesystem::current_path(here);
}

DOCTEST_TEST_CASE("bed: narrowPeak from bgzip") {
    const auto records = read_bed(testing::test_data("regions/k562_max.narrowPeak.gz"));
    DOCTEST_REQUIRE(records.size() == 507);
    for (const BedRecord& record : records) {
        DOCTEST_CHECK(record.where.contig == "chr22");
        DOCTEST_REQUIRE(record.summit);
        DOCTEST_CHECK(*record.summit < record.where.size());
    }
}

DOCTEST_TEST_CASE("bed: a summit counts where it is one") {
    const testing::TempDir folder;
    const std::string start = "1\t100\t200\t.\t0\t.\t1\t-1\t-1\t";
    testing::write_file(folder / "peaks", start + "0\n" + start + "99\n" + start + "100\n" + start + "-1\n" +
                                              start + "x\n" + start + "50\t\n");
    const auto records = read_bed(folder / "peaks");
    DOCTEST_REQUIRE(records.size() == 6);
    DOCTEST_CHECK(records[0].summit == 0);
    DOCTEST_CHECK(records[1].summit == 99);
    for (std::size_t i = 2; i < records.size(); ++i)
        DOCTEST_CHECK(records[i].summit == std::nullopt);
}

DOCTEST_TEST_CASE("bed: an empty file and an empty interval are no errors") {
    DOCTEST_CHECK(read_bed(testing::test_data("regions/empty.bed")).empty());
    const auto edges = read_bed(testing::test_data("regions/edges.bed"));
    DOCTEST_REQUIRE(edges.size() == 4);
    DOCTEST_CHECK(edges[2].where.size() == 0);
}

DOCTEST_TEST_CASE("bed: malformed rows are named with file and line") {
    const std::array<std::pair<const char*, const char*>, 8> cases{{
        {"blanks.bed", ":2: columns are separated by blanks: BED needs tabs"},
        {"two_columns.bed",
         ":2: a BED row needs three columns (contig, start, end), separated by tabs; this one has 2"},
        {"start_after_end.bed",
         ":1: start 16050200 lies behind end 16050000: BED has the smaller coordinate first on both strands"},
        {"negative_start.bed", ":2: start -5 is negative: BED counts from 0"},
        {"not_a_number.bed", ":2: end '16,050,200' is not a number: BED has whole numbers, digits only"},
        {"exponent.bed", ":1: start '1e7' is not a number: BED has whole numbers, digits only"},
        {"too_large.bed",
         ":1: end '99999999999999999999' is not a number: BED has whole numbers, digits only"},
        {"no_contig.bed", ":1: the contig (first column) is empty"},
    }};
    for (const auto& [name, expected] : cases) {
        const auto path = testing::test_data("regions/malformed") / name;
        DOCTEST_CHECK(testing::message_of<InputError>([&] { read_bed(path); }) == path.string() + expected);
    }
}

DOCTEST_TEST_CASE("bed: tables of MACS and annotations are named") {
    const testing::TempDir folder;
    const auto ends_with = [&](const std::string& text, const char* end) {
        testing::write_file(folder / "x", text);
        return testing::message_of<InputError>([&] { read_bed(folder / "x"); }).ends_with(end);
    };
    DOCTEST_CHECK(ends_with("chr\tstart\tend\tlength\tabs_summit\tpileup\nchr1\t1\t2\t2\t1\t9\n",
                            "; this is MACS's table, which counts from 1: give its .narrowPeak"));
    DOCTEST_CHECK(ends_with("1\tRefSeq\tgene\t1\t9\t.\t+\t.\tID=g\n", "; this is a GTF or GFF3"));
}

DOCTEST_TEST_CASE("bed: reading goes on behind a malformed row") {
    const testing::TempDir folder;
    testing::write_file(folder / "mixed", "1\t5\t9\n1\t9\t5\n1\t7\t8\n");
    BedReader reader(folder / "mixed");
    DOCTEST_CHECK(reader.next().has_value());
    DOCTEST_CHECK_THROWS_AS(reader.next(), InputError);
    DOCTEST_CHECK(reader.text() == "1\t9\t5");
    DOCTEST_CHECK(reader.line_number() == 2);
    const auto last = reader.next();
    DOCTEST_REQUIRE(last);
    DOCTEST_CHECK(last->where == Interval{"1", 7, 8});
    DOCTEST_CHECK(!reader.next());
}

DOCTEST_TEST_CASE(
    "bed: an end that no contig reaches is refused, so that sums of coordinates do not overflow") {
    const testing::TempDir folder;
    testing::write_file(folder / "x.bed", "1\t5\t1099511627776\n1\t5\t9223372036854775807\n");
    BedReader reader(folder / "x.bed");
    DOCTEST_CHECK(reader.next()->where.end == 1099511627776);
    DOCTEST_CHECK(testing::message_of<InputError>([&] { reader.next(); }) ==
                  (folder / "x.bed").string() + ":2: end 9223372036854775807 is past the end of any contig");
}

DOCTEST_TEST_CASE("bed: a column 6 that is no strand is read as none") {
    const std::vector<BedRecord> rows = read_bed(testing::test_data("regions/malformed/strand.bed"));
    DOCTEST_REQUIRE(!rows.empty());
    DOCTEST_CHECK(rows[0].strand == Strand::none);
}
