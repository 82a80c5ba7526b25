// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/regions/interval_set.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <sstream>
#include <string>

using namespace bigbird;
using namespace bigbird::genome;

namespace {

/// All peaks of test_data, in no order.
IntervalSet all_peaks() {
    std::vector<Interval> intervals;
    for (const auto& entry : std::filesystem::directory_iterator(testing::test_data("chromatin"))) {
        if (entry.path().extension() == ".gz")
            for (const BedRecord& record : read_bed(entry.path()))
                intervals.push_back(record.where);
    }
    DOCTEST_REQUIRE(intervals.size() == 8357);
    return IntervalSet(intervals);
}

/// Random intervals on [0, 200) of a contig, and the same as one flag a base.
struct Flagged {
    IntervalSet set;
    std::vector<bool> bases = std::vector<bool>(200);

    Flagged(Rng& random, std::size_t count) {
        std::vector<Interval> intervals;
        for (std::size_t i = 0; i < count; ++i) {
            const auto begin = static_cast<std::int64_t>(random.next() % 190);
            const auto end = begin + static_cast<std::int64_t>(random.next() % 11);
            intervals.push_back({"a", begin, end});
            std::fill(bases.begin() + begin, bases.begin() + end, true);
        }
        set = IntervalSet(intervals);
    }
};

void check_same(const IntervalSet& set, const std::vector<bool>& bases) {
    DOCTEST_CHECK(set.bases() == std::count(bases.begin(), bases.end(), true));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(bases.size()); ++i)
        DOCTEST_REQUIRE(set.contains({"a", i, i + 1}) == bases[static_cast<std::size_t>(i)]);
}

}  // namespace

DOCTEST_TEST_CASE("interval_set: merging equals bedtools merge") {
    std::vector<Interval> expected;
    for (const BedRecord& record : read_bed(testing::test_data("genome/fixtures/merged.bed")))
        expected.push_back(record.where);
    DOCTEST_CHECK(all_peaks().intervals() == expected);
}

DOCTEST_TEST_CASE("interval_set: overlaps equal bedtools coverage") {
    const IntervalSet peaks = all_peaks();
    TextInput input(testing::test_data("genome/fixtures/coverage.tsv"));
    std::string line;
    int covered = 0;
    while (input.next(line)) {
        std::istringstream fields(line);
        Interval bin;
        std::int64_t expected = 0;
        fields >> bin.contig >> bin.begin >> bin.end >> expected;
        DOCTEST_CAPTURE(line);
        DOCTEST_CHECK(peaks.overlaps(bin) == (expected > 0));
        DOCTEST_CHECK(peaks.contains(bin) == (expected == bin.size()));
        covered += expected > 0;
    }
    DOCTEST_CHECK(covered > 100);
}

DOCTEST_TEST_CASE("interval_set: union, intersection and difference equal flags a base") {
    Rng random(7);
    for (std::size_t round = 0; round < 50; ++round) {
        const Flagged a(random, round % 20), b(random, round % 13);
        std::vector<bool> both(200), either(200), only(200);
        for (std::size_t i = 0; i < 200; ++i) {
            both[i] = a.bases[i] && b.bases[i];
            either[i] = a.bases[i] || b.bases[i];
            only[i] = a.bases[i] && !b.bases[i];
        }
        check_same(a.set, a.bases);
        check_same(a.set.intersected(b.set), both);
        check_same(a.set.united(b.set), either);
        check_same(a.set.without(b.set), only);
    }
}

DOCTEST_TEST_CASE(
    "interval_set: intervals that touch are one, empty ones hold nothing, contigs are kept apart") {
    const std::vector<Interval> intervals{
        {"b", 5, 10}, {"b", 10, 12}, {"a", 7, 7}, {"b", 14, 20}, {"b", 0, 3}};
    const IntervalSet set(intervals);
    DOCTEST_CHECK(set.intervals() == std::vector<Interval>{{"b", 0, 3}, {"b", 5, 12}, {"b", 14, 20}});
    DOCTEST_CHECK(set.spans("a").empty());
    DOCTEST_CHECK(!set.overlaps({"a", 0, 100}));
    DOCTEST_CHECK(!set.overlaps({"b", 3, 5}));
    DOCTEST_CHECK(!set.overlaps({"b", 7, 7}));
    DOCTEST_CHECK(set.contains({"b", 5, 12}));
    DOCTEST_CHECK(!set.contains({"b", 5, 13}));
    DOCTEST_CHECK(IntervalSet().empty());
    DOCTEST_CHECK(set.without(set).empty());
}

DOCTEST_TEST_CASE("interval_set: what does not lie on the reference is left out and counted") {
    const auto genome = open_reference(testing::test_data("genome/22.fa.gz"));
    const PlacedBed placed = read_bed_on(*genome, testing::test_data("promoter/tss.hg19.bed"));
    DOCTEST_CHECK(placed.records.size() == 108);
    DOCTEST_CHECK(placed.records.front().where.contig == "22");
    DOCTEST_CHECK(placed.fit.off_reference() == 5);
    DOCTEST_CHECK(placed.fit.misfits() == "5 past a contig's end (22 has 22000000 bases)");
    AssemblyFit fit = read_bed_on(*genome, testing::test_data("regions/malformed/unknown_contig.bed")).fit;
    DOCTEST_CHECK(fit.misfits() == "1 on contigs that the reference lacks (scaffold_7)");
    fit += placed.fit;
    DOCTEST_CHECK(fit.misfits() ==
                  "1 on contigs that the reference lacks (scaffold_7), 5 past a contig's end (22 has "
                  "22000000 bases)");
    DOCTEST_CHECK(AssemblyFit{}.misfits().empty());
}

DOCTEST_TEST_CASE("interval_set: a BED file as a set is cut at contig ends and left out on other contigs") {
    const testing::TempDir folder;
    testing::write_file(folder / "a.bed", "chr1\t5\t90\n1\t0\t2\n2\t0\t4\n1\t50\t60\n1\t7\t8\n");
    const auto genome = in_memory_genome({{"1", "ACGTACGTAC"}});
    const std::vector<std::string> files{folder / "a.bed"};
    const IntervalSet set = read_region_set(*genome, files, "--include");
    DOCTEST_CHECK(set.intervals() == std::vector<Interval>{{"1", 0, 2}, {"1", 5, 10}});
}

DOCTEST_TEST_CASE("interval_set: contigs, regions and BED files in one set") {
    const testing::TempDir folder;
    const auto reference =
        in_memory_genome({{"chr1", std::string(100, 'A')}, {"chr2", std::string(50, 'A')}});
    testing::write_file(folder / "a.bed", "chr1\t10\t20\n");
    const auto read = [&](const std::vector<std::string>& texts) {
        return read_region_set(*reference, texts, "--include").intervals();
    };
    DOCTEST_CHECK(read({folder / "a.bed", "chr2", "1:16-30"}) ==
                  std::vector<Interval>{{"chr1", 10, 30}, {"chr2", 0, 50}});
    DOCTEST_CHECK(read({"chr1:91-400"}) == std::vector<Interval>{{"chr1", 90, 100}});
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { read({"chr3"}); }) ==
                  "--include 'chr3' is neither a contig or region of the reference nor a BED file");
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { read({"chr2:51-60"}); }) ==
                  "--include 'chr2:51-60' is past the end of contig 'chr2', which has 50 bases");
}

DOCTEST_TEST_CASE("interval_set: a contig's name wins over a region, and both are refused") {
    const auto reference = in_memory_genome({{"HLA-A*01:01:01", std::string(50, 'A')},
                                             {"HLA-A*01:01:01:01", std::string(60, 'A')},
                                             {"seq:1-100", std::string(200, 'A')},
                                             {"both", std::string(70, 'A')},
                                             {"both:1-5", std::string(80, 'A')}});
    const auto read = [&](const std::string& text) { return region_on(*reference, text, "--test"); };
    DOCTEST_CHECK(read("HLA-A*01:01:01:01") == Interval{"HLA-A*01:01:01:01", 0, 60});
    DOCTEST_CHECK(read("HLA-A*01:01:01:5-9") == Interval{"HLA-A*01:01:01", 4, 9});
    DOCTEST_CHECK(read("seq:1-100") == Interval{"seq:1-100", 0, 200});
    DOCTEST_CHECK(read("seq:1-100:11-20") == Interval{"seq:1-100", 10, 20});
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { read("both:1-5"); }) ==
                  "--test 'both:1-5' is the name of a contig and a region of another: write '{both:1-5}' or "
                  "'{both}:1-5'");
    DOCTEST_CHECK(read("{both:1-5}") == Interval{"both:1-5", 0, 80});
    DOCTEST_CHECK(read("{both}:1-5") == Interval{"both", 0, 5});
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] {
                      read("HLA-A*01:01:01:02");
                  }).find("is neither a contig or region of the reference") != std::string::npos);
}
