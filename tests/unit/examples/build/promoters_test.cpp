// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/promoters.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <map>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using genome::Interval;
using genome::Strand;
namespace fs = std::filesystem;

namespace {

PromoterOptions real_options() {
    PromoterOptions options;
    options.tss = testing::test_data("promoter/tss.hg38.bed.gz");
    options.chain = testing::test_data("promoter/hg38ToHg19.chr22.chain.gz");
    options.references = {testing::test_data("genome/22.fa.gz")};
    options.validation = {"22:20000001-20900000"};
    options.test = {"22:21000001-22000000"};
    options.seed = 3;
    return options;
}

ExampleSet build(const PromoterOptions& options, const fs::path& folder) {
    fs::create_directory(folder);
    build_promoters(options, folder);
    return ExampleSet::load(folder);
}

Interval window_of_row(const ExampleSet& examples, std::int64_t row) {
    const ExampleRow one = examples.row(row);
    return window_about_tss(one.where.contig, one.where.begin, one.strand, examples.bounds());
}

void check_splits_share_nothing(const ExampleSet& examples, bool negatives_too) {
    std::map<Split, std::vector<Interval>> windows;
    for (std::int64_t row = 0; row < examples.size(); ++row)
        if (negatives_too || examples.label(row, 0) == 1)
            windows[examples.split(row)].push_back(window_of_row(examples, row));
    const genome::IntervalSet train(windows[Split::train]), validation(windows[Split::validation]),
        test(windows[Split::test]);
    DOCTEST_CHECK(!train.empty());
    DOCTEST_CHECK(!validation.empty());
    DOCTEST_CHECK(!test.empty());
    DOCTEST_CHECK(train.intersected(test).empty());
    DOCTEST_CHECK(train.intersected(validation).empty());
    DOCTEST_CHECK(validation.intersected(test).empty());
}

}  // namespace

DOCTEST_TEST_CASE("promoters: each TSS has its window and a negative beside it, in the same split") {
    const testing::TempDir folder;
    const ExampleSet examples = build(real_options(), folder / "p");
    const auto reference = genome::open_reference(testing::test_data("genome/22.fa.gz"));
    DOCTEST_CHECK(examples.size() > 190);
    DOCTEST_CHECK(examples.size() % 2 == 0);
    for (std::int64_t row = 0; row < examples.size(); row += 2) {
        const ExampleRow positive = examples.row(row), negative = examples.row(row + 1);
        DOCTEST_REQUIRE(examples.label(row, 0) == 1);
        DOCTEST_REQUIRE(examples.label(row + 1, 0) == 0);
        DOCTEST_REQUIRE(negative.name == positive.name + ".negative");
        DOCTEST_REQUIRE(negative.where == positive.where);
        DOCTEST_REQUIRE(negative.split == positive.split);
        std::string expected = reference->fetch(window_of_row(examples, row));
        if (positive.strand == Strand::reverse) expected = genome::reverse_complement(expected);
        DOCTEST_REQUIRE(examples.sequence(row) == expected);
        const std::string other = examples.sequence(row + 1);
        int kept = 0;
        for (std::size_t piece = 0; piece < 20; ++piece)
            kept += other.compare(piece * 400, 400, expected, piece * 400, 400) == 0 ? 1 : 0;
        DOCTEST_REQUIRE(kept == 8);
    }
    check_splits_share_nothing(examples, true);
}

DOCTEST_TEST_CASE("promoters: the same bytes for any number of threads, others for another seed") {
    const testing::TempDir folder;
    for (const NegativeKind kind : {NegativeKind::random_bases, NegativeKind::permuted,
                                    NegativeKind::shuffled, NegativeKind::genomic}) {
        PromoterOptions options = real_options();
        options.negatives = kind;
        const std::string name(to_string(kind));
        build(options, folder / (name + "1"));
        options.threads = 3;
        build(options, folder / (name + "3"));
        options.seed = 4;
        build(options, folder / (name + "s"));
        for (const char* file :
             {"sequences.bed", "sequences.2bit", "labels.npy", "manifest.json", "test.bed"}) {
            DOCTEST_CHECK(testing::read_file(folder / (name + "1") / file) ==
                          testing::read_file(folder / (name + "3") / file));
        }
        DOCTEST_CHECK(testing::read_file(folder / (name + "1/sequences.2bit")) !=
                      testing::read_file(folder / (name + "s/sequences.2bit")));
    }
}

DOCTEST_TEST_CASE(
    "promoters: genomic negatives are real windows away from every TSS, held out as their promoters are") {
    const testing::TempDir folder;
    PromoterOptions options = real_options();
    options.negatives = NegativeKind::genomic;
    options.bounds = {-249, 51};
    const ExampleSet examples = build(options, folder / "p");
    const auto reference = genome::open_reference(testing::test_data("genome/22.fa.gz"));
    std::vector<Interval> tss_windows;
    for (std::int64_t row = 0; row < examples.size(); row += 2)
        tss_windows.push_back(window_of_row(examples, row));
    const genome::IntervalSet avoided(tss_windows);
    for (std::int64_t row = 1; row < examples.size(); row += 2) {
        const ExampleRow negative = examples.row(row);
        DOCTEST_REQUIRE(!avoided.overlaps(window_of_row(examples, row)));
        std::string expected = reference->fetch(window_of_row(examples, row));
        DOCTEST_REQUIRE(
            examples.sequence(row) ==
            (negative.strand == Strand::reverse ? genome::reverse_complement(expected) : expected));
        const std::int64_t base = negative.where.begin;
        const Split expected_split = base >= 21'000'000                        ? Split::test
                                     : base >= 20'000'000 && base < 20'900'000 ? Split::validation
                                                                               : Split::train;
        DOCTEST_REQUIRE(negative.split == expected_split);
        DOCTEST_REQUIRE(genome::n_fraction(expected) <= 0.5);
    }
    check_splits_share_nothing(examples, true);
    const std::string test_bed = testing::read_file(folder / "p/test.bed");
    DOCTEST_CHECK(test_bed.find(".negative\t.\t") != std::string::npos);
}

DOCTEST_TEST_CASE("promoters: windows hang over the contig's ends as N, too much N is left out") {
    const testing::TempDir folder;
    testing::write_file(folder / "g.fa",
                        ">1\n" + std::string(60, 'G') + std::string(60, 'N') + std::string(80, 'C') + "\n");
    testing::write_file(folder / "t.bed", "1\t10\t11\ta\t.\t+\n1\t90\t91\tb\t.\t+\n1\t150\t151\tc\t.\t-\n");
    PromoterOptions options;
    options.tss = folder / "t.bed";
    options.references = {folder / "g.fa"};
    options.bounds = {-20, 20};
    const ExampleSet examples = build(options, folder / "p");
    DOCTEST_REQUIRE(examples.size() == 4);
    DOCTEST_CHECK(examples.row(0).name == "a");
    DOCTEST_CHECK(examples.sequence(0) == std::string(10, 'N') + std::string(30, 'G'));
    DOCTEST_CHECK(examples.row(2).name == "c");
    DOCTEST_CHECK(examples.sequence(2) == std::string(40, 'G'));
}

DOCTEST_TEST_CASE("promoters: a window too short for 20 pieces is refused") {
    PromoterOptions options = real_options();
    options.bounds = {-9, 10};
    DOCTEST_CHECK_THROWS_AS(options.validate(), ConfigError);
    options.negatives = NegativeKind::genomic;
    DOCTEST_CHECK_NOTHROW(options.validate());
}
