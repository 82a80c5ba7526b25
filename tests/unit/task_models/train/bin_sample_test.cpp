// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/bin_sample.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/task_models/bin_examples.hpp"

#include <algorithm>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::task_models;
using examples::Split;

namespace {

struct Scene {
    TempDir folder;
    BinGenome genome;
    std::optional<examples::LabelledBins> bins;
    std::optional<BinWindows> windows;
    explicit Scene(std::int64_t count) : genome(count, 1) {
        write_bin_examples(folder / "e", count, 1);
        bins = examples::LabelledBins::load(folder / "e");
        windows.emplace(*bins, small_bins().grid(), Split::train, 2);
    }
    bins::LabelledSequence sample(const SampleSize& size, std::uint64_t seed = 7) const {
        return sample_of(*windows, size, Rng(seed));
    }
};

std::string letters_of(std::span<const std::uint8_t> codes) {
    std::string dna;
    for (const std::uint8_t code : codes)
        dna += "ACGTN"[code];
    return dna;
}

}  // namespace

DOCTEST_TEST_CASE("bin_sample: below the limit, all bins that count, in order, with all their labels") {
    const Scene scene(100);
    const bins::LabelledSequence all = scene.sample({.background = 55, .of_label = 1, .of_labels = 1});
    DOCTEST_CHECK(all.length == 20);
    DOCTEST_REQUIRE(all.bins() == 55);
    DOCTEST_CHECK(all.background == 55);
    DOCTEST_REQUIRE(all.labels() == 2);
    for (std::int64_t i = 0; i < 55; ++i) {
        const auto bin = static_cast<std::size_t>(i < 20 ? i : i + 5);  // N between
        DOCTEST_CHECK(letters_of(all.codes_of(i)) == scene.genome.dna.substr(20 * bin, 20));
        for (const std::size_t label : {std::size_t{0}, std::size_t{1}})
            DOCTEST_CHECK(std::ranges::count(all.with[label], i) == (scene.genome.labels[bin] >> label & 1U));
    }
    DOCTEST_CHECK(std::ranges::is_sorted(all.with[0]));
}

DOCTEST_TEST_CASE("bin_sample: above it, as many bins as asked for, each once, and labels are theirs") {
    const Scene scene(3000);
    const SampleSize size{.background = 150, .of_label = 500, .of_labels = 240};
    const bins::LabelledSequence some = scene.sample(size);
    DOCTEST_CHECK(some.background == 150);
    DOCTEST_CHECK(some.bins() > 150);
    DOCTEST_CHECK(some.bins() <= 150 + 240);
    for (std::size_t label = 0; label < 2; ++label) {
        DOCTEST_CHECK(some.with[label].size() == 120);  // 240 over two labels
        DOCTEST_CHECK(std::ranges::adjacent_find(some.with[label], std::greater_equal{}) ==
                      some.with[label].end());
    }
    std::vector<std::string> seen;
    for (std::int64_t i = 0; i < some.bins(); ++i) {
        const std::string dna = letters_of(some.codes_of(i));
        seen.push_back(dna);
        const std::size_t at = scene.genome.dna.find(dna);
        DOCTEST_REQUIRE(at % 20 == 0);
        DOCTEST_CHECK(at < 1800 * 20);  // train
        if (i >= 150) continue;
        for (const std::size_t label : {std::size_t{0}, std::size_t{1}})  // all that the background has
            DOCTEST_CHECK(std::ranges::count(some.with[label], i) ==
                          (scene.genome.labels[at / 20] >> label & 1U));
    }
    std::ranges::sort(seen);
    DOCTEST_CHECK(std::ranges::adjacent_find(seen) == seen.end());
    for (const std::int32_t bin : some.with[0])
        DOCTEST_CHECK(letters_of(some.codes_of(bin)).find("GATTACA") != std::string::npos);
}

DOCTEST_TEST_CASE("bin_sample: the seed's, and from all over the split") {
    const Scene scene(3000);
    const SampleSize size{.background = 300, .of_label = 200, .of_labels = 400};
    const bins::LabelledSequence one = scene.sample(size), same = scene.sample(size);
    DOCTEST_CHECK(one.codes == same.codes);
    DOCTEST_CHECK(one.with == same.with);
    DOCTEST_CHECK(one.codes != scene.sample(size, 8).codes);
    const auto mean_bin = [&](const auto& chosen) {
        double sum = 0;
        for (const auto bin : chosen)
            sum += static_cast<double>(scene.genome.dna.find(letters_of(one.codes_of(bin))) / 20);
        return sum / static_cast<double>(chosen.size());
    };
    std::vector<std::int64_t> background(300);
    for (std::size_t i = 0; i < 300; ++i)
        background[i] = static_cast<std::int64_t>(i);
    // The standard error of the mean of 200 of 1,800 is 35.
    DOCTEST_CHECK(std::abs(mean_bin(background) - 900) < 100);
    DOCTEST_CHECK(std::abs(mean_bin(one.with[0]) - 900) < 130);
    DOCTEST_CHECK(std::abs(mean_bin(one.with[1]) - 900) < 130);
}

DOCTEST_TEST_CASE("bin_sample: a motif of the whole is found in a tenth of it") {
    const Scene scene(6000);
    const bins::LabelledSequence some = scene.sample({.background = 300, .of_label = 80, .of_labels = 160});
    const std::vector<bins::Motif> motifs = bins::find_motifs(some, {.width = 9}, 2);
    DOCTEST_REQUIRE(!motifs.empty());
    DOCTEST_CHECK(motifs.front().label == 0);
    std::string best;
    for (std::size_t i = 0; i < motifs.front().odds.size(); i += 4)
        best += "ACGT"[std::ranges::max_element(std::span(motifs.front().odds).subspan(i, 4)) -
                       std::span(motifs.front().odds).subspan(i, 4).begin()];
    DOCTEST_CHECK_MESSAGE(
        (best.find("GATTACA") != std::string::npos || best.find("TGTAATC") != std::string::npos), best);
}
