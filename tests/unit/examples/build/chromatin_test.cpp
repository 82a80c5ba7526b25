// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/chromatin.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/parse_number.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/examples/build/bin_regions.hpp"
#include "bigbird/examples/examples.hpp"
#include "bigbird/genome/reference/reference_genome.hpp"
#include "bigbird/genome/regions/interval_set.hpp"
#include "bigbird/genome/text/text_input.hpp"
#include "bigbird/rows/text_fields.hpp"

#include <algorithm>
#include <map>
#include <string>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
namespace fs = std::filesystem;

namespace {

ChromatinOptions real_options() {
    ChromatinOptions options;
    options.peaks = {testing::test_data("chromatin/peaks.tsv")};
    options.references = {testing::test_data("genome/22.fa.gz")};
    options.negatives.emplace();
    return options;
}

ExampleSet build(const ChromatinOptions& options, const fs::path& folder) {
    fs::create_directory(folder);
    build_chromatin(options, folder);
    return ExampleSet::load(folder);
}

/// Labels by start of the bin, as bedtools has them (scripts/checks/make_chromatin_fixtures).
std::map<std::int64_t, std::vector<std::uint8_t>> bedtools_bins() {
    std::map<std::int64_t, std::vector<std::uint8_t>> bins;
    genome::TextInput input(testing::test_data("chromatin/fixtures/bins.tsv.gz"));
    std::string line;
    while (input.next(line)) {
        const auto fields = split_fields(line, '\t');
        std::vector<std::uint8_t> labels(109, 0);
        for (const auto index : split_fields(fields[1], ','))
            labels[static_cast<std::size_t>(*parse_number<std::int64_t>(index))] = 1;
        bins.emplace(*parse_number<std::int64_t>(fields[0]), std::move(labels));
    }
    return bins;
}

void write_small(const testing::TempDir& folder) {
    testing::write_file(folder / "g.fa", ">1\n" + std::string(100, 'N') + std::string(400, 'A') + "\n>2\n" +
                                             std::string(250, 'C') + "\n");
    testing::write_file(folder / "a.bed", "chr1\t110\t131\nchr1\t200\t240\nchr2\t0\t20\nchr2\t230\t250\n");
    testing::write_file(folder / "b.bed", "1\t105\t120\n1\t118\t126\n1\t490\t501\nX\t1\t9\n");
}

ChromatinOptions small_options(const testing::TempDir& folder) {
    ChromatinOptions options;
    options.peaks = {folder / "a.bed", folder / "b.bed"};
    options.references = {folder / "g.fa"};
    options.window = 60;
    options.bin = 20;
    options.negatives.emplace();
    return options;
}

std::vector<std::string> places(const ExampleSet& examples) {
    std::vector<std::string> found;
    for (std::int64_t i = 0; i < examples.size(); ++i)
        found.push_back(genome::to_string(examples.row(i).where));
    return found;
}

}  // namespace

DOCTEST_TEST_CASE("chromatin: bins and labels of 109 real peak files on 22 equal bedtools'") {
    const testing::TempDir folder;
    const ExampleSet examples = build(real_options(), folder / "c");
    const auto expected = bedtools_bins();
    DOCTEST_REQUIRE(expected.size() == 3584);
    DOCTEST_REQUIRE(examples.size() == 3584);
    std::int64_t row = 0;
    std::vector<std::int64_t> positives(109, 0);
    for (const auto& [start, labels] : expected) {
        DOCTEST_REQUIRE(examples.row(row).where == genome::Interval{"22", start, start + 200});
        DOCTEST_REQUIRE(examples.labels(row) == labels);
        for (std::size_t i = 0; i < labels.size(); ++i)
            positives[i] += labels[i];
        ++row;
    }
    for (std::size_t i = 0; i < positives.size(); ++i)
        DOCTEST_CHECK(examples.label_table()[i].positives == positives[i]);
    const auto reference = genome::open_reference(testing::test_data("genome/22.fa.gz"));
    for (row = 0; row < examples.size(); row += 97) {
        const genome::Interval window = genome::window_around(examples.row(row).where, 8000);
        DOCTEST_CHECK(examples.sequence(row) == reference->fetch(window));
    }
    DOCTEST_CHECK(examples.label_table()[1].name == "A549|CTCF|None");
    DOCTEST_CHECK(examples.label_table()[1].group == "TF");
}

DOCTEST_TEST_CASE("chromatin: the same bytes for any number of threads") {
    const testing::TempDir folder;
    ChromatinOptions options = real_options();
    options.test = {"22:21000001-22000000"};
    build(options, folder / "one");
    options.threads = 4;
    build(options, folder / "four");
    for (const char* file :
         {"sequences.bed", "labels.tsv", "labels.npy", "sequences.2bit", "manifest.json", "test.bed"}) {
        DOCTEST_CHECK(testing::read_file(folder / "one" / file) ==
                      testing::read_file(folder / "four" / file));
    }
}

DOCTEST_TEST_CASE("chromatin: held-out bins share no base of their windows with training's") {
    const testing::TempDir folder;
    ChromatinOptions options = real_options();
    options.validation = {"22:18000001-19000000"};
    options.test = {"22:21000001-22000000"};
    const ExampleSet examples = build(options, folder / "c");
    std::map<Split, std::vector<genome::Interval>> windows;
    for (std::int64_t row = 0; row < examples.size(); ++row) {
        windows[examples.split(row)].push_back(genome::window_around(examples.row(row).where, 8000));
        const std::int64_t begin = examples.row(row).where.begin;
        const Split expected = begin >= 21'000'000                         ? Split::test
                               : begin >= 18'000'000 && begin < 19'000'000 ? Split::validation
                                                                           : Split::train;
        DOCTEST_CHECK(examples.split(row) == expected);
    }
    DOCTEST_CHECK(windows[Split::test].size() > 700);
    DOCTEST_CHECK(windows[Split::validation].size() > 100);
    const genome::IntervalSet train(windows[Split::train]), validation(windows[Split::validation]),
        test(windows[Split::test]);
    DOCTEST_CHECK(train.intersected(test).empty());
    DOCTEST_CHECK(train.intersected(validation).empty());
    DOCTEST_CHECK(validation.intersected(test).empty());
}

DOCTEST_TEST_CASE("chromatin: coverage is of the union, bins lie wholly on the contig, aliases are known") {
    const testing::TempDir folder;
    write_small(folder);
    const ExampleSet examples = build(small_options(folder), folder / "c");
    // b's two peaks cover 15 + 6 of [100, 120) and [120, 140): 15 and 6; a's first covers 10 and 11
    DOCTEST_CHECK(places(examples) ==
                  std::vector<std::string>{"1:100-120", "1:120-140", "1:200-220", "1:220-240", "2:0-20"});
    DOCTEST_CHECK(examples.labels(0) == std::vector<std::uint8_t>{0, 1});
    DOCTEST_CHECK(examples.labels(1) == std::vector<std::uint8_t>{1, 0});
    DOCTEST_CHECK(examples.label_table()[0].name == "a");
    DOCTEST_CHECK(examples.sequence(4) == std::string(20, 'N') + std::string(40, 'C'));
}

DOCTEST_TEST_CASE("chromatin: all bins, included and excluded regions, N") {
    const testing::TempDir folder;
    write_small(folder);
    ChromatinOptions options = small_options(folder);
    options.negatives.reset();
    testing::write_file(folder / "include.bed", "1\t0\t285\n");
    options.include = {(folder / "include.bed").string()};
    options.exclude = {"1:220-221"};
    // windows of bins before 100 are more than half N, that of [100, 120) has 20 of 60
    DOCTEST_CHECK(places(build(options, folder / "half")) ==
                  std::vector<std::string>{"1:100-120", "1:120-140", "1:140-160", "1:160-180", "1:180-200",
                                           "1:240-260", "1:260-280"});
}

DOCTEST_TEST_CASE("chromatin: where nothing is left, that is an error") {
    const testing::TempDir folder;
    write_small(folder);
    ChromatinOptions options = small_options(folder);
    testing::write_file(folder / "x.bed", "X\t1\t100\n");
    options.peaks = {folder / "x.bed"};
    fs::create_directory(folder / "c");
    DOCTEST_CHECK(
        testing::message_of<InputError>([&] { build_chromatin(options, folder / "c"); }) ==
        "none of the 1 peak is on the reference (which has '1', '2'); give peaks and reference of the "
        "same assembly");
    testing::write_file(folder / "small.bed", "1\t201\t205\n");
    options.peaks = {folder / "small.bed"};
    for (const bool all : {false, true}) {
        options.negatives = all ? std::nullopt : std::optional(Negatives());
        const fs::path output = folder / (all ? "e" : "d");
        fs::create_directory(output);
        DOCTEST_CHECK(testing::message_of<InputError>([&] {
                          build_chromatin(options, output);
                      }).starts_with("no bin has a label: none of the peaks covers more than half of a bin"));
    }
    options.window = 10;
    DOCTEST_CHECK_THROWS_AS(build_chromatin(options, folder / "d"), ConfigError);
}

DOCTEST_TEST_CASE("chromatin: negatives are drawn among bins without any label") {
    const testing::TempDir folder;
    ChromatinOptions options = real_options();
    options.window = 1000;
    const ExampleSet without = build(options, folder / "without");
    options.negatives = Negatives{2};
    const ExampleSet with = build(options, folder / "with");
    options.seed = 1;
    const ExampleSet other = build(options, folder / "other");
    std::int64_t positives = 0, negatives = 0, same = 0;
    std::map<std::int64_t, bool> first;
    for (std::int64_t i = 0; i < with.size(); ++i) {
        const std::vector<std::uint8_t> labels = with.labels(i);
        const bool any =
            std::any_of(labels.begin(), labels.end(), [](std::uint8_t label) { return label != 0; });
        (any ? positives : negatives) += 1;
        first[with.row(i).where.begin] = !any;
        if (i > 0) DOCTEST_REQUIRE(with.row(i - 1).where.begin < with.row(i).where.begin);
    }
    for (std::int64_t i = 0; i < other.size(); ++i) {
        const auto found = first.find(other.row(i).where.begin);
        same += found != first.end() && found->second ? 1 : 0;
    }
    DOCTEST_CHECK(positives == without.size());
    DOCTEST_CHECK(negatives == 2 * positives);
    DOCTEST_CHECK(same < negatives);
}

DOCTEST_TEST_CASE("chromatin: negatives by GC have the GC of the bins with a label, in each split") {
    const testing::TempDir folder;
    ChromatinOptions options = real_options();
    options.window = 1000;
    options.test = {"22:20500001-22000000"};
    options.negatives = Negatives{.ratio = 1, .by_gc = true};
    const ExampleSet matched = build(options, folder / "matched");
    options.negatives = Negatives{1};
    const ExampleSet drawn = build(options, folder / "drawn");
    const auto gc_of = [](const ExampleSet& set, bool labelled) {
        double sum = 0, windows = 0;
        for (const std::int64_t row : set.rows(Split::test)) {
            const std::vector<std::uint8_t> labels = set.labels(row);
            if (std::ranges::any_of(labels, [](std::uint8_t label) { return label != 0; }) != labelled)
                continue;
            const std::string dna = set.sequence(row);
            sum += GcCounter(dna).share(0, std::ssize(dna));
            ++windows;
        }
        return sum / windows;
    };
    DOCTEST_CHECK(std::abs(gc_of(matched, true) - gc_of(matched, false)) < 0.005);
    DOCTEST_CHECK(gc_of(drawn, true) - gc_of(drawn, false) > 0.02);
    DOCTEST_CHECK(matched.manifest()["parameters"]["negatives"] == "gc:1");
}

DOCTEST_TEST_CASE("chromatin: a label of several files has the union of their peaks") {
    const testing::TempDir folder;
    write_small(folder);
    testing::write_file(folder / "c.bed", "1\t300\t306\n2\t100\t108\n");
    testing::write_file(folder / "d.bed", "1\t306\t312\n2\t100\t108\n");
    testing::write_file(folder / "sheet.tsv", "name\tpath\nboth\tc.bed,d.bed\n");
    ChromatinOptions options = small_options(folder);
    options.peaks = {folder / "sheet.tsv"};
    // 12 of 20 bases on contig 1, 8 on contig 2
    DOCTEST_CHECK(places(build(options, folder / "both")) == std::vector<std::string>{"1:300-320"});
}

DOCTEST_TEST_CASE("chromatin: held out by rule are whole contigs, and stretches within what is admitted") {
    const testing::TempDir folder;
    testing::write_file(folder / "g.fa", ">1\n" + std::string(3000, 'N') + std::string(9000, 'A') + "\n>2\n" +
                                             std::string(1100, 'C') + "\n>bare\n" + std::string(1000, 'G') +
                                             "\n");
    testing::write_file(folder / "a.bed", "1\t3100\t3200\n1\t11000\t11300\n1\t9000\t9300\n2\t200\t300\n");
    testing::write_file(folder / "most.bed", "1\t0\t11500\n2\t0\t1100\nbare\t0\t1000\n");
    ChromatinOptions options;
    options.peaks = {folder / "a.bed"};
    options.references = {folder / "g.fa"};
    options.window = 60;
    options.bin = 20;
    options.chooses_hold_outs = true;
    options.include = {(folder / "most.bed").string()};
    // 425 bins of 1 and 55 of 2, a tenth are 48: contig 2 for test, the last 48 bins of what is left of 1.
    Json held_out = build(options, folder / "rule").manifest()["parameters"]["held_out"];
    DOCTEST_CHECK(held_out == Json{{"validation", {"1:10540-11500"}}, {"test", {"2:0-1100"}}});
    // What is given stays, and is not chosen again.
    options.test = {"1:11001-12000"};
    held_out = build(options, folder / "given").manifest()["parameters"]["held_out"];
    DOCTEST_CHECK(held_out == Json{{"validation", {"2:0-1100"}}, {"test", {"1:11000-12000"}}});
    // Not even in part, where the rule takes what is on both sides of it.
    options.test = {"1:11101-11300", "2:1-500"};
    options.include = {"1"};
    held_out = build(options, folder / "within").manifest()["parameters"]["held_out"];
    DOCTEST_CHECK(held_out["validation"] == Json{"1:10920-11100", "1:11300-12000"});
    options.include = {(folder / "most.bed").string()};
    options.validation = {"1:3001-4000"};
    held_out = build(options, folder / "both").manifest()["parameters"]["held_out"];
    DOCTEST_CHECK(held_out["validation"] == Json{"1:3000-4000"});
}

namespace {

std::vector<std::int64_t> marked(const std::vector<genome::Span>& spans, std::int64_t size,
                                 std::int64_t count) {
    std::vector<std::int64_t> bins;
    mark_covered_bins(spans, size, count, [&](std::int64_t bin) { bins.push_back(bin); });
    return bins;
}

}  // namespace

DOCTEST_TEST_CASE("chromatin_bins: exactly half is not more than half") {
    DOCTEST_CHECK(marked({{0, 100}}, 200, 10).empty());
    DOCTEST_CHECK(marked({{0, 101}}, 200, 10) == std::vector<std::int64_t>{0});
    DOCTEST_CHECK(marked({{100, 150}, {160, 211}}, 200, 10) == std::vector<std::int64_t>{});
    DOCTEST_CHECK(marked({{50, 100}, {149, 301}}, 200, 10) == std::vector<std::int64_t>{0, 1});
    DOCTEST_CHECK(marked({{190, 1000}}, 200, 3) == std::vector<std::int64_t>{1, 2});
}

DOCTEST_TEST_CASE("chromatin_bins: equal to counting base by base") {
    Rng rng(11);
    for (int round = 0; round < 50; ++round) {
        std::vector<genome::Span> spans;
        std::string covered(3000, '.');
        std::int64_t at = rng.between(0, 100);
        while (at < 2900) {
            const std::int64_t end = at + rng.between(1, 150);
            spans.push_back({at, std::min<std::int64_t>(end, 3000)});
            for (std::int64_t i = at; i < spans.back().end; ++i)
                covered[static_cast<std::size_t>(i)] = 'x';
            at = end + rng.between(1, 120);
        }
        const std::int64_t size = rng.between(1, 250), count = 3000 / size;
        std::vector<std::int64_t> expected;
        for (std::int64_t bin = 0; bin < count; ++bin) {
            const auto begin = covered.begin() + bin * size;
            if (2 * std::count(begin, begin + size, 'x') > size) expected.push_back(bin);
        }
        DOCTEST_CHECK(marked(spans, size, count) == expected);
    }
}

DOCTEST_TEST_CASE("chromatin_bins: N is counted inside the sequence and beyond it") {
    Rng rng(12);
    std::string dna;
    while (dna.size() < 500)
        dna.append(static_cast<std::size_t>(rng.between(1, 30)), rng.between(0, 1) == 0 ? 'N' : 'A');
    const auto genome = genome::in_memory_genome({{"1", dna}, {"empty", ""}});
    const ContigSequence sequence(*genome, genome->contigs()[0]);
    for (int i = 0; i < 500; ++i) {
        const std::int64_t begin = rng.between(-100, 600), end = begin + rng.between(0, 300);
        std::int64_t expected = 0;
        for (std::int64_t p = begin; p < end; ++p) {
            const bool inside = p >= 0 && p < static_cast<std::int64_t>(dna.size());
            expected += !inside || dna[static_cast<std::size_t>(p)] == 'N' ? 1 : 0;
        }
        DOCTEST_CHECK(sequence.count_n(begin, end) == expected);
    }
    DOCTEST_CHECK(ContigSequence(*genome, genome->contigs()[1]).count_n(-5, 5) == 10);
}
