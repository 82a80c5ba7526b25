// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/promoters.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/genome/regions/bed.hpp"
#include "bigbird/genome/regions/interval_set.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using genome::Interval;
using genome::Strand;
namespace fs = std::filesystem;

namespace {

PromoterOptions real_promoter_options() {
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

DOCTEST_TEST_CASE("promoters: hold-outs by rule are the last two tenths of the TSSs, beside what is given") {
    const testing::TempDir folder;
    PromoterOptions options = real_promoter_options();
    options.validation.clear();
    options.test.clear();
    options.chooses_hold_outs = true;
    options.bounds = {-249, 51};
    const ExampleSet chosen = build(options, folder / "chosen");
    check_splits_share_nothing(chosen, false);
    const auto held_out = [](const ExampleSet& set, const char* split) {
        return set.manifest()["parameters"]["held_out"][split].get<std::vector<std::string>>();
    };
    DOCTEST_REQUIRE(held_out(chosen, "test").size() == 1);
    DOCTEST_CHECK(held_out(chosen, "test").front().ends_with("-22000000"));
    for (const Split split : {Split::validation, Split::test}) {
        DOCTEST_CHECK(chosen.rows(split).size() >= 16);
        DOCTEST_CHECK(chosen.rows(split).size() <= 22);
    }
    options.test = {"22:20000001-21500000"};
    const ExampleSet given = build(options, folder / "given");
    DOCTEST_CHECK(held_out(given, "test") == std::vector<std::string>{"22:20000000-21500000"});
    DOCTEST_CHECK_FALSE(given.rows(Split::validation).empty());
    check_splits_share_nothing(given, false);
}

DOCTEST_TEST_CASE("promoters: each TSS has its window and a negative beside it, in the same split") {
    const testing::TempDir folder;
    const ExampleSet examples = build(real_promoter_options(), folder / "p");
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
        PromoterOptions options = real_promoter_options();
        options.negatives = kind;
        const std::string name(word_of(negative_choices, kind));
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
    PromoterOptions options = real_promoter_options();
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
    DOCTEST_CHECK(testing::holds(test_bed, ".negative\t.\t"));
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
    PromoterOptions options = real_promoter_options();
    options.bounds = {-9, 10};
    DOCTEST_CHECK_THROWS_AS(options.validate(), ConfigError);
    options.negatives = NegativeKind::genomic;
    DOCTEST_CHECK_NOTHROW(options.validate());
}

namespace {

std::vector<std::string> sorted_places(const std::vector<genome::BedRecord>& records) {
    std::vector<std::string> places;
    for (const genome::BedRecord& record : records)
        places.push_back(genome::to_string(record.where) + record.name + static_cast<char>(record.strand));
    std::sort(places.begin(), places.end());
    return places;
}

/// Options for TSSs on a contig "1", with windows of 40 bases.
PromoterOptions small_options(const fs::path& folder, const std::string& dna, const std::string& tss) {
    testing::write_file(folder / "g.fa", ">1\n" + dna + "\n");
    testing::write_file(folder / "t.bed", tss);
    PromoterOptions options;
    options.tss = folder / "t.bed";
    options.references = {folder / "g.fa"};
    options.bounds = {-20, 20};
    options.skip_invalid = true;
    return options;
}

}  // namespace

DOCTEST_TEST_CASE("promoter_sites: EPDnew lifted to hg19 as pyliftover lifts it") {
    const testing::TempDir folder;
    const testing::CapturedLog log;
    PromoterOptions options = real_promoter_options();
    options.bounds = {-20, 20};
    const ExampleSet examples = build(options, folder / "p");
    DOCTEST_CHECK(testing::holds(log.text(), "lifted 113 of 116, 3 unmapped"));
    DOCTEST_CHECK(testing::holds(log.text(), "left out 5 of 113 TSSs: 5 past a contig's end"));
    DOCTEST_CHECK(examples.size() == 2 * 108);
    DOCTEST_CHECK(sorted_places(genome::read_bed(folder / "p/lifted.bed")) ==
                  sorted_places(genome::read_bed(testing::test_data("promoter/tss.hg19.bed"))));
    // The chain file is cut to 22.
    DOCTEST_CHECK(testing::read_file(folder / "p/unmapped.bed") ==
                  "chr7\t142560432\t142560433\tTCRB_1\t1\t+\tno_chains\n"
                  "chr7\t142563746\t142563747\tTCR8_1\t1\t+\tno_chains\n"
                  "chr9\t66179449\t66179450\tANKRD20A3_1\t1\t-\tno_chains\n");
    DOCTEST_CHECK(examples.row(0).where.contig == "22");
}

DOCTEST_TEST_CASE("promoter_sites: a chain to another assembly is told of, a slice of the assembly is not") {
    const testing::TempDir folder;
    PromoterOptions options = small_options(folder.path(), std::string(1000, 'A'),
                                            "chr1\t10\t11\ta\t1\t+\nchr1\t12\t13\tb\t1\t+\n");
    options.chain = folder / "c.chain";
    const auto said = [&](const std::string& length) {
        testing::write_file(folder / "c.chain",
                            "chain 9 chr1 900 + 0 500 chr1 " + length + " + 100 600 1\n500\n\n");
        const testing::CapturedLog log;
        DOCTEST_CHECK(build(options, folder / length).row(0).where.begin == 110);
        return log.text();
    };
    const std::string question = "is it a chain to another assembly?";
    DOCTEST_CHECK(!testing::holds(said("1000"), question));
    DOCTEST_CHECK(!testing::holds(said("2000"), question));
    for (const char* length : {"990", "1010", "600"}) {
        const std::string log = said(length);
        DOCTEST_CHECK(testing::holds(log, (folder / "c.chain").string() + ": its contig chr1 has " + length +
                                              " bases, the reference's 1000; " + question));
        DOCTEST_CHECK(log.find(question) == log.rfind(question));  // once a contig
    }
}

DOCTEST_TEST_CASE("promoter_sites: the TSS is a row's first base in the direction of transcription") {
    const testing::TempDir folder;
    const testing::CapturedLog log;
    const ExampleSet examples =
        build(small_options(folder.path(), std::string(1000, 'A'),
                            "chr1\t10\t70\ta\t1\t+\nchr1\t10\t70\tb\t1\t-\nchr1\t20\t21\t.\t1\t-\n"
                            "chr1\t10\t11\ta\t9\t+\nX\t1\t2\tx\t1\t+\nchr1\t999\t1001\ty\t1\t-\n"),
              folder / "p");
    DOCTEST_REQUIRE(examples.size() == 6);
    DOCTEST_CHECK(examples.row(0).where.begin == 10);
    DOCTEST_CHECK(examples.row(2).where.begin == 69);
    DOCTEST_CHECK(examples.row(2).strand == Strand::reverse);
    DOCTEST_CHECK(examples.row(4).name == "1:20-");
    DOCTEST_CHECK(testing::holds(log.text(), "left out 1 TSS with another's place"));
    DOCTEST_CHECK(testing::holds(log.text(),
                                 "left out 2 of 6 TSSs: 1 on contigs that the reference lacks (X), 1 past a "
                                 "contig's end (1 has 1000 bases)"));
}

DOCTEST_TEST_CASE("promoter_sites: a row without strand or base, or nothing on the reference, is an error") {
    const testing::TempDir folder;
    const auto message = [&](const std::string& bed) {
        const PromoterOptions options = small_options(folder.path(), std::string(1000, 'A'), bed);
        return testing::message_of<InputError>([&] { build(options, folder / "p"); });
    };
    const std::string file = (folder / "t.bed").string();
    DOCTEST_CHECK(message("1\t1\t2\ta\n") == file + ":1: a TSS needs its strand, + or -, in column 6");
    DOCTEST_CHECK(message("#x\n1\t2\t2\ta\t.\t+\n").starts_with(file + ":2: a TSS needs at least one base"));
    DOCTEST_CHECK(message("") == file + ": holds no TSSs");
    DOCTEST_CHECK(
        message("2\t1\t2\ta\t.\t+\n") ==
        file +
            ": none of its 1 TSSs is on the reference; give TSSs of the same assembly, or a --chain to it");
}

namespace {

std::string random_bases(int length) {
    std::string dna;
    for (Rng rng(1); std::ssize(dna) < length;)
        dna += "ACGT"[rng.between(0, 3)];
    return dna;
}

/// Promoters in windows of `length` random bases, and their negatives.
std::vector<std::pair<std::string, std::string>> pairs_of(NegativeKind kind, std::int64_t length,
                                                          int promoters) {
    const testing::TempDir folder;
    std::string tss;
    for (int i = 0; i < promoters; ++i)
        tss += "1\t" + std::to_string(10 * i) + "\t" + std::to_string(10 * i + 1) + "\ta\t.\t+\n";
    PromoterOptions options =
        small_options(folder.path(), random_bases(10 * promoters + static_cast<int>(length)), tss);
    options.bounds = {0, length};
    options.negatives = kind;
    const ExampleSet examples = build(options, folder / "p");
    DOCTEST_REQUIRE(examples.size() == 2 * promoters);
    std::vector<std::pair<std::string, std::string>> pairs;
    for (std::int64_t row = 0; row < examples.size(); row += 2)
        pairs.emplace_back(examples.sequence(row), examples.sequence(row + 1));
    return pairs;
}

/// How often each part of `length` letters occurs, from each `step`th letter on.
std::map<std::string, int> parts_of(const std::string& dna, std::size_t length, std::size_t step) {
    std::map<std::string, int> counts;
    for (std::size_t i = 0; i + length <= dna.size(); i += step)
        ++counts[dna.substr(i, length)];
    return counts;
}

/// Pieces that stand unchanged.
std::set<std::size_t> kept_pieces(const std::string& positive, const std::string& negative) {
    std::set<std::size_t> kept;
    const std::size_t piece = positive.size() / 20;
    for (std::size_t i = 0; i < 20; ++i)
        if (positive.compare(i * piece, piece, negative, i * piece, piece) == 0) kept.insert(i);
    return kept;
}

}  // namespace

DOCTEST_TEST_CASE("negatives: 8 of 20 pieces stay in place, 12 become random bases, any of them") {
    std::array<int, 20> kept_times{};
    std::map<std::string, int> letters;
    for (const auto& [positive, negative] : pairs_of(NegativeKind::random_bases, 2000, 400)) {
        DOCTEST_REQUIRE(negative.size() == positive.size());
        const std::set<std::size_t> kept = kept_pieces(positive, negative);
        DOCTEST_REQUIRE(kept.size() == 8);
        for (std::size_t piece = 0; piece < 20; ++piece) {
            kept_times[piece] += kept.contains(piece) ? 1 : 0;
            if (!kept.contains(piece))
                for (const auto& [letter, count] : parts_of(negative.substr(piece * 100, 100), 1, 1))
                    letters[letter] += count;
        }
    }
    for (const int times : kept_times)
        DOCTEST_CHECK(times == doctest::Approx(160).epsilon(0.3));  // 8 of 20; sd 9.8
    DOCTEST_CHECK(letters.size() == 4);
    for (const auto& [letter, count] : letters)
        DOCTEST_CHECK(count == doctest::Approx(120'000).epsilon(0.015));
}

DOCTEST_TEST_CASE("negatives: permuted pieces are the same pieces in other places") {
    std::set<std::string> seen;
    for (const auto& [positive, negative] : pairs_of(NegativeKind::permuted, 300, 50)) {
        DOCTEST_CHECK(kept_pieces(positive, negative).size() >= 8);
        DOCTEST_CHECK(kept_pieces(positive, negative).size() < 20);
        DOCTEST_CHECK(parts_of(positive, 15, 15) == parts_of(negative, 15, 15));
        seen.insert(negative);
    }
    DOCTEST_CHECK(seen.size() == 50);
}

DOCTEST_TEST_CASE("negatives: a shuffled promoter keeps the number of each dinucleotide") {
    const auto [positive, negative] = pairs_of(NegativeKind::shuffled, 600, 1).front();
    DOCTEST_CHECK(negative != positive);
    DOCTEST_CHECK(parts_of(negative, 2, 1) == parts_of(positive, 2, 1));
}

DOCTEST_TEST_CASE("negatives: lengths that do not divide by 20 keep their length and composition") {
    for (const int length : {20, 21, 39, 251, 8001}) {
        const auto [positive, permuted] = pairs_of(NegativeKind::permuted, length, 1).front();
        DOCTEST_CHECK(parts_of(permuted, 1, 1) == parts_of(positive, 1, 1));
        DOCTEST_CHECK(std::ssize(pairs_of(NegativeKind::random_bases, length, 1).front().second) == length);
    }
}

DOCTEST_TEST_CASE(
    "genomic_negatives: windows lie in the split's reach, away from what is avoided, with little N") {
    const testing::TempDir folder;
    std::string tss;
    for (int i = 0; i < 2000; ++i)
        tss += "1\t650\t651\tp" + std::to_string(i) + "\t.\t" + (i % 2 == 0 ? "+\n" : "-\n");
    PromoterOptions options = small_options(folder.path(), std::string(100, 'N') + random_bases(900), tss);
    options.negatives = NegativeKind::genomic;
    options.bounds = {-20, 10};
    options.validation = {"1:301-500"};
    const ExampleSet examples = build(options, folder / "p");
    DOCTEST_REQUIRE(examples.size() == 4000);
    std::map<std::int64_t, int> hundreds;
    for (std::int64_t row = 1; row < examples.size(); row += 2) {
        const Interval window = window_of_row(examples, row);
        DOCTEST_REQUIRE((window.end <= 630 || window.begin >= 671));
        DOCTEST_REQUIRE(window.end <= 1000);
        DOCTEST_REQUIRE(std::ranges::count(examples.sequence(row), 'N') <= 15);
        ++hundreds[examples.row(row).where.begin / 100];
    }
    DOCTEST_CHECK(hundreds[2] == doctest::Approx(333).epsilon(0.3));  // all bases alike
    DOCTEST_CHECK(hundreds[8] == doctest::Approx(333).epsilon(0.3));
    DOCTEST_CHECK(hundreds.count(3) + hundreds.count(4) == 0);
}

DOCTEST_TEST_CASE("genomic_negatives: where there is no room, that is said") {
    const testing::TempDir folder;
    PromoterOptions options = small_options(folder.path(), std::string(100, 'A'), "1\t50\t51\ta\t.\t+\n");
    options.negatives = NegativeKind::genomic;
    options.bounds = {-30, 30};
    DOCTEST_CHECK_THROWS_AS(build(options, folder / "p"), ConfigError);
}
