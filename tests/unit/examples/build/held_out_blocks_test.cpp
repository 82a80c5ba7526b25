// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/held_out_blocks.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/examples/build/chromatin.hpp"
#include "bigbird/examples/labelled_bins.hpp"

#include <algorithm>
#include <numeric>

using namespace bigbird;
using namespace bigbird::examples;
using bigbird::genome::Interval, bigbird::genome::IntervalSet;

namespace {

constexpr std::int64_t bin_bases = 200, gap_bases = 12'800;

/// A contig of `bins` bins, with `peaks` peaks of two bins at random, ten bins apart at least.
UsableBins contig_with_peaks(const std::string& name, std::int64_t bins, std::int64_t peaks) {
    UsableBins of{.contig = name};
    of.bins.resize(static_cast<std::size_t>(bins));
    std::iota(of.bins.begin(), of.bins.end(), 0);
    Rng rng = Rng(7).split(name);
    std::vector<std::int64_t> starts;
    while (std::ssize(starts) < peaks) {
        const std::int64_t start = rng.between(0, bins - 2);
        if (std::ranges::all_of(starts, [&](std::int64_t other) { return std::abs(other - start) > 10; }))
            starts.push_back(start);
    }
    std::ranges::sort(starts);
    for (const std::int64_t start : starts)
        of.labelled.insert(of.labelled.end(), {start, start + 1});
    return of;
}

std::int64_t peaks_one_by_one(const std::vector<UsableBins>& usable, const IntervalSet& regions) {
    std::int64_t count = 0;
    for (const UsableBins& of : usable)
        for (std::size_t i = 0; i < of.labelled.size(); i += 2)
            count +=
                regions.overlaps({of.contig, of.labelled[i] * bin_bases, of.labelled[i] * bin_bases + 1});
    return count;
}

/// What is chosen for test and validation, checked: disjoint, no peak cut.
std::vector<IntervalSet> chosen_of(const std::vector<UsableBins>& usable) {
    const PeakBlocks blocks(usable, bin_bases, gap_bases);
    std::vector<IntervalSet> sets;
    for (const std::vector<Interval>& set : blocks.choose(2)) {
        const IntervalSet& regions = sets.emplace_back(set);
        DOCTEST_CHECK(blocks.peaks_in(regions) == peaks_one_by_one(usable, regions));
        for (const UsableBins& of : usable)
            for (std::size_t i = 0; i < of.labelled.size(); i += 2)
                DOCTEST_CHECK(regions.overlaps(
                                  {of.contig, of.labelled[i] * bin_bases, of.labelled[i] * bin_bases + 1}) ==
                              regions.overlaps({of.contig, of.labelled[i + 1] * bin_bases,
                                                of.labelled[i + 1] * bin_bases + 1}));
    }
    DOCTEST_CHECK(sets[0].intersected(sets[1]).empty());
    return sets;
}

}  // namespace

DOCTEST_TEST_CASE("held_out_blocks: 96 peaks of a chromosome: ten blocks with ten peaks") {
    const std::vector<UsableBins> usable{contig_with_peaks("20", 300'000, 96)};
    for (const IntervalSet& set : chosen_of(usable)) {
        DOCTEST_CHECK(set.intervals().size() == 10);
        DOCTEST_CHECK(peaks_one_by_one(usable, set) >= 10);
        DOCTEST_CHECK(PeakBlocks(usable, bin_bases, gap_bases).are_enough(set));
    }
}

DOCTEST_TEST_CASE("held_out_blocks: 17 peaks leave ten for training, many take a tenth of them") {
    const std::vector<UsableBins> few{contig_with_peaks("20", 300'000, 17)};
    for (const IntervalSet& set : chosen_of(few))
        DOCTEST_CHECK(std::abs(2 * peaks_one_by_one(few, set) - 7) == 1);  // 3 or 4
    const std::vector<UsableBins> many{contig_with_peaks("20", 300'000, 1000)};
    for (const IntervalSet& set : chosen_of(many))
        DOCTEST_CHECK(peaks_one_by_one(many, set) == 100);
}

DOCTEST_TEST_CASE("held_out_blocks: gaps leave most of a megabase to training, blocks go over contigs") {
    const std::vector<UsableBins> usable{contig_with_peaks("I", 3000, 40), contig_with_peaks("II", 2000, 20)};
    const PeakBlocks blocks(usable, bin_bases, gap_bases);
    const std::vector<IntervalSet> sets = chosen_of(usable);
    std::vector<Interval> both = sets[0].united(sets[1]).intervals();
    for (const IntervalSet& set : sets)
        DOCTEST_CHECK(peaks_one_by_one(usable, set) == 10);
    DOCTEST_CHECK(both.size() >= 5);
    const std::int64_t lost = blocks.around(both).bases() - IntervalSet(both).bases();
    DOCTEST_CHECK(lost > 0);
    DOCTEST_CHECK(lost <= 150'000);
    DOCTEST_CHECK(std::ranges::any_of(both, [](const Interval& one) { return one.contig == "II"; }));
}

DOCTEST_TEST_CASE("held_out_blocks: folds share all bins, and about equally many peaks") {
    const std::vector<UsableBins> usable{contig_with_peaks("1", 200'000, 60),
                                         contig_with_peaks("2", 100'000, 36)};
    const PeakBlocks blocks(usable, bin_bases, gap_bases);
    IntervalSet all;
    for (const std::vector<Interval>& fold : blocks.folds(5)) {
        DOCTEST_CHECK(all.intersected(IntervalSet(fold)).empty());
        DOCTEST_CHECK(blocks.peaks_in(IntervalSet(fold)) >= 18);
        all = all.united(IntervalSet(fold));
    }
    DOCTEST_CHECK(all.intervals() == std::vector<Interval>{{"1", 0, 40'000'000}, {"2", 0, 20'000'000}});
}

DOCTEST_TEST_CASE("held_out_blocks: what is enough: peaks, and blocks for intervals where they fit") {
    const std::vector<UsableBins> usable{contig_with_peaks("1", 300'000, 96)};
    const PeakBlocks blocks(usable, bin_bases, gap_bases);
    DOCTEST_CHECK(blocks.peaks() == 96);
    const auto first = [&](std::int64_t peaks) {
        const std::int64_t end = usable[0].labelled[static_cast<std::size_t>(2 * peaks)] * bin_bases;
        return IntervalSet(std::vector<Interval>{{"1", 0, end}});
    };
    DOCTEST_CHECK(blocks.are_enough(first(10)));
    DOCTEST_CHECK_FALSE(blocks.are_enough(first(9)));
    std::vector<UsableBins> dense{contig_with_peaks("1", 5000, 200)};
    const IntervalSet stretch(std::vector<Interval>{{"1", 900'000, 1'000'000}});
    DOCTEST_CHECK(PeakBlocks(dense, bin_bases, gap_bases).peaks_in(stretch) >= 10);
    DOCTEST_CHECK_FALSE(PeakBlocks(dense, bin_bases, gap_bases).are_enough(stretch));
    DOCTEST_CHECK(PeakBlocks(dense, bin_bases, 10 * gap_bases).are_enough(stretch));  // five do not fit
}

namespace {

/// A contig of a megabase with a peak of one bin at each of `places`.
ChromatinOptions peaks_at(const testing::TempDir& folder, const std::vector<std::int64_t>& places) {
    std::string dna, bed;
    while (dna.size() < 1'000'000)
        dna += "ACGTTGCAAC";
    for (const std::int64_t place : places)
        bed += "c\t" + std::to_string(place) + "\t" + std::to_string(place + 200) + "\n";
    testing::write_file(folder / "g.fa", ">c\n" + dna + "\n");
    testing::write_file(folder / "a.bed", bed);
    ChromatinOptions options;
    options.peaks = {folder / "a.bed"};
    options.references = {folder / "g.fa"};
    options.window = 1000;
    options.chooses_hold_outs = true;
    options.gap = gap_bases;
    return options;
}

ExampleSet built(const ChromatinOptions& options, const std::filesystem::path& folder) {
    std::filesystem::create_directory(folder);
    build_chromatin(options, folder);
    return ExampleSet::load(folder);
}

}  // namespace

DOCTEST_TEST_CASE(
    "held_out_blocks: examples of 60 peaks in a megabase, no bin of train within a window of others") {
    const testing::TempDir folder;
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < 60; ++i)
        places.push_back(i * i * 200 + 4000 * (i % 7));  // denser at the beginning
    const ChromatinOptions options = peaks_at(folder, places);
    const ExampleSet set = built(options, folder / "e");
    DOCTEST_CHECK(set.positives(0, Split::test) >= 10);
    DOCTEST_CHECK(set.positives(0, Split::validation) >= 10);
    DOCTEST_CHECK(set.positives(0, Split::train) >= 20);
    std::int64_t nearest = 1'000'000;
    const auto bins = LabelledBins::load(folder / "e");
    for (const BinStretch& train : bins.stretches())
        for (const BinStretch& other : bins.stretches())
            if (train.split == Split::train && other.split != Split::train)
                nearest =
                    std::min(nearest, train.first < other.first ? other.first - train.first - train.count
                                                                : train.first - other.first - other.count);
    DOCTEST_CHECK(nearest == gap_bases / 200);
    const Json held_out = set.manifest()["parameters"]["held_out"];
    DOCTEST_CHECK(held_out["left_out"].size() >= 2);
    DOCTEST_CHECK(built(options, folder / "again").manifest()["parameters"]["held_out"] == held_out);
}

DOCTEST_TEST_CASE("held_out_blocks: too few peaks are refused with the regions to give") {
    const testing::TempDir folder;
    ChromatinOptions options = peaks_at(folder, {100'000, 300'000, 500'000, 700'000, 900'000});
    std::filesystem::create_directory(folder / "e");
    const auto message = [&] {
        return testing::message_of<InputError>([&] { build_chromatin(options, folder / "e"); });
    };
    DOCTEST_CHECK(
        message() ==
        "5 separate peaks are too few to hold some out by rule, which takes 10: give more peaks, or "
        "hold out --test c:400201-600200 (1 peak) --validation c:600201-800200 (1 peak)");
    options.test = {"c:400201-600200"};
    DOCTEST_CHECK(testing::holds(message(), "or hold out --validation c:"));
    options.validation = {"c:600201-800200"};
    DOCTEST_CHECK(built(options, folder / "given").positives(0, Split::test) == 1);
    options = peaks_at(folder, {100'000, 300'000, 500'000, 700'000, 900'000});
    options.folds = 10;
    DOCTEST_CHECK(
        message() ==
        "5 separate peaks are too few for 10 folds, which take 20: give more peaks, or fewer folds");
    options = peaks_at(folder, {500'000});
    DOCTEST_CHECK(message() ==
                  "1 separate peak is too few to hold some out by rule, which takes 10: give more peaks");
    options.exclude = {"c:499001-501000"};
    DOCTEST_CHECK(message() ==
                  "no bin of 200 bp has a label: a peak must cover more than half of one that --include and "
                  "--exclude admit; make summits wider");
}
