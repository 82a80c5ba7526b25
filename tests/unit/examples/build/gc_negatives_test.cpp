// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/gc_negatives.hpp"

#include "support/captured_log.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/build/tracks.hpp"
#include "bigbird/examples/labelled_bins.hpp"

#include <algorithm>
#include <set>

using namespace bigbird;
using namespace bigbird::examples;
using namespace bigbird::testing;
using genome::Interval;

namespace {

/// The slow twin of GcCounter.
double plain_share(const std::string& dna) {
    return static_cast<double>(std::ranges::count(dna, 'G') + std::ranges::count(dna, 'C')) /
           static_cast<double>(dna.size());
}

/// Windows of chromosome 22 around A549's CTCF peaks, of which the last bases are of test.
struct Chromosome22 {
    std::unique_ptr<genome::ReferenceGenome> reference = genome::open_reference(test_data("genome/22.fa.gz"));
    genome::IntervalSet excluded{std::vector<Interval>{{"22", 17'000'000, 18'000'000}}};
    std::vector<SplitWindow> peaks;

    Chromosome22() {
        const std::vector<std::filesystem::path> paths{test_data("chromatin/A549.CTCF.chr22.narrowPeak.gz")};
        peaks = peak_windows(*reference, paths, 1000, excluded, split_of);
    }
    static Split split_of(const Interval& where) {
        return where.end > 21'000'000 ? Split::test : Split::train;
    }
    std::vector<SplitWindow> negatives(double ratio, std::uint64_t seed = 0) const {
        return gc_negatives(*reference, peaks, excluded, split_of, ratio, seed);
    }
    std::int64_t percent(const SplitWindow& window) const {
        return std::lround(100 * plain_share(reference->fetch(window.window)));
    }
};

}  // namespace

DOCTEST_TEST_CASE("gc negatives: a share is that of the letters of its window") {
    const std::string dna = "ACGTNNGCGCATATATCCGG";
    GcCounter counter(dna);
    for (const auto& [begin, end] : std::vector<std::pair<std::int64_t, std::int64_t>>{
             {0, 5}, {2, 9}, {3, 9}, {9, 12}, {10, 20}, {0, 4}, {15, 20}})
        DOCTEST_CHECK(counter.share(begin, end) ==
                      doctest::Approx(plain_share(dna.substr(static_cast<std::size_t>(begin),
                                                             static_cast<std::size_t>(end - begin)))));
    DOCTEST_CHECK(counter.share(-5, 5) == doctest::Approx(0.2));
    DOCTEST_CHECK(counter.share(16, 26) == doctest::Approx(0.4));
}

DOCTEST_TEST_CASE("gc negatives: each peak has one of its own GC, outside peaks and what is excluded") {
    const Chromosome22 chromosome;
    const CapturedLog log;
    const std::vector<SplitWindow> negatives = chromosome.negatives(1);
    DOCTEST_CHECK(negatives.size() == chromosome.peaks.size());
    for (const Split split : {Split::train, Split::test}) {
        std::multiset<std::int64_t> of_peaks, of_negatives;
        for (const SplitWindow& peak : chromosome.peaks)
            if (peak.split == split) of_peaks.insert(chromosome.percent(peak));
        for (const SplitWindow& negative : negatives)
            if (negative.split == split) of_negatives.insert(chromosome.percent(negative));
        DOCTEST_CHECK(!of_peaks.empty());
        std::int64_t apart = 0;
        auto other = of_negatives.begin();
        for (const std::int64_t percent : of_peaks)
            apart += std::abs(percent - *other++);
        DOCTEST_CHECK(apart * 100 <= std::ssize(of_peaks));  // 0.0001 on average
    }
    std::vector<Interval> around;
    for (const SplitWindow& peak : chromosome.peaks)
        around.push_back(peak.window);
    const genome::IntervalSet taken = genome::IntervalSet(around).united(chromosome.excluded);
    std::set<Interval> different;
    for (const SplitWindow& negative : negatives) {
        DOCTEST_CHECK(!taken.overlaps(negative.window));
        DOCTEST_CHECK(negative.window.size() == 1000);
        DOCTEST_CHECK(negative.split == Chromosome22::split_of(negative.window));
        different.insert(negative.window);
    }
    DOCTEST_CHECK(different.size() == negatives.size());
    DOCTEST_CHECK(holds(log.text(), "negatives matched by GC to"));
    DOCTEST_CHECK(chromosome.negatives(0.5).size() * 2 <= negatives.size() + 3);
    const auto windows_of = [](const std::vector<SplitWindow>& of) {
        std::vector<Interval> windows;
        for (const SplitWindow& one : of)
            windows.push_back(one.window);
        return windows;
    };
    DOCTEST_CHECK(windows_of(chromosome.negatives(1)) == windows_of(negatives));
    DOCTEST_CHECK(windows_of(chromosome.negatives(1, 1)) != windows_of(negatives));
}

DOCTEST_TEST_CASE("gc negatives: a genome that is too small ends with a count") {
    std::string dna;
    while (dna.size() < 20'000)
        dna += "ACGTTTGCAATTAA";
    const auto reference = genome::in_memory_genome({{"a", dna}, {"b", dna}});
    const std::vector<SplitWindow> peaks{{{"a", 1000, 3000}, Split::train}, {{"b", 0, 2000}, Split::test}};
    const CapturedLog log;
    const auto negatives = gc_negatives(
        *reference, peaks, genome::IntervalSet(),
        [](const Interval& where) { return where.contig == "a" ? Split::train : Split::test; }, 1000, 0);
    DOCTEST_CHECK(negatives.size() == 16 + 17);
    DOCTEST_CHECK(holds(log.text(),
                        "train: 16 negatives matched by GC to 1 peak, not the 1000 asked for: the genome has "
                        "16 windows outside peaks and --exclude"));
    DOCTEST_CHECK(gc_negatives(*reference, {}, genome::IntervalSet(), {}, 1, 0).empty());
}

DOCTEST_TEST_CASE("gc negatives: a ratio has a form") {
    DOCTEST_CHECK(parse_negatives("2") == Negatives{2, false});
    DOCTEST_CHECK(parse_negatives("gc:0.5") == Negatives{0.5, true});
    for (const char* text : {"gc", "gc:", "gc:-1", "-1", "at:1", ""})
        DOCTEST_CHECK(
            holds(message_of<ConfigError>([&] { parse_negatives(text); }), "--negatives takes a ratio"));
}

DOCTEST_TEST_CASE("tracks: bins around peaks and their negatives only") {
    const TempDir folder;
    write_file(folder / "peaks.bed", "I\t50000\t50400\nI\t120000\t120300\nVI\t60000\t60200\nI\t0\t50\n");
    TrackOptions options;
    options.signals = {test_data("tracks/yeast.bedpe.gz")};
    options.references = {test_data("genome/yeast.fa.gz")};
    options.bin = 1;
    options.validation = {"VI"};
    options.peaks = {folder / "peaks.bed"};
    options.negatives = Negatives{.ratio = 2, .by_gc = true};
    std::filesystem::create_directory(folder / "out");
    const CapturedLog log;
    build_tracks(options, folder / "out");
    const LabelledBins bins = LabelledBins::load(folder / "out");
    std::int64_t count = 0;
    for (const BinStretch& stretch : bins.stretches()) {
        count += stretch.count;
        DOCTEST_CHECK((stretch.contig == "VI") == (stretch.split == Split::validation));
    }
    DOCTEST_CHECK(bins.stretches().front().contig == "I");
    DOCTEST_CHECK(count <= 9 * 2114);
    DOCTEST_CHECK(count > 6 * 2114);  // negatives may overlap each other
    DOCTEST_CHECK(holds(log.text(),
                        "3 windows of 2114 bases, around 3 of 4 peaks; left out: 0 off the reference, 1 "
                        "past a contig's end"));
    options.peak_window = 500;
    for (const std::uint64_t seed : {0U, 1U}) {
        options.seed = seed;
        const auto made = folder / ("narrow" + std::to_string(seed));
        std::filesystem::create_directory(made);
        build_tracks(options, made);
    }
    DOCTEST_CHECK(holds(log.text(), "3 windows of 500 bases, around 3 of 4 peaks"));
    DOCTEST_CHECK(read_file(folder / "narrow0/bins.bed") != read_file(folder / "narrow1/bins.bed"));
    options.negatives = Negatives{1};
    DOCTEST_CHECK(holds(message_of<ConfigError>([&] { options.validate(); }), "takes gc:RATIO"));
}
