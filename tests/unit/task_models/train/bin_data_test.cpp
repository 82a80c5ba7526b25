// SPDX-License-Identifier: Apache-2.0
#include "bigbird/task_models/train/bin_data.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/change_example.hpp"
#include "unit/task_models/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <set>

using namespace bigbird;
using namespace bigbird::testing;
using examples::Split;
using namespace bigbird::task_models;

namespace {

struct Scene {
    TempDir folder;
    BinGenome genome{100, 1};
    std::optional<examples::LabelledBins> bins;
    bins::BinsConfig config = small_bins();
    Scene() {
        write_bin_examples(folder / "e", 100, 1);
        bins = examples::LabelledBins::load(folder / "e");
    }
    BinWindows windows(Split split) const { return {*bins, config.grid(), split, 2}; }
};

}  // namespace

DOCTEST_TEST_CASE("bin_data: bins that are N do not count, labels are those of the bins that do") {
    const Scene scene;
    const BinWindows windows = scene.windows(Split::train);
    DOCTEST_CHECK(windows.usable() == 55);
    std::int64_t motifs = 0;
    for (std::size_t bin = 0; bin < 60; ++bin)
        motifs += (bin < 20 || bin > 24) && (scene.genome.labels[bin] & 1U) != 0 ? 1 : 0;
    DOCTEST_CHECK(windows.positives()[0] == motifs);
    std::vector<std::uint8_t> labels(16), counts(8);
    windows.copy_labels({.stretch = 0, .first = 18, .counted_begin = 0, .counted_end = 8}, labels, counts);
    DOCTEST_CHECK((counts == std::vector<std::uint8_t>{1, 1, 0, 0, 0, 0, 0, 1}));
    DOCTEST_CHECK(windows.counted({.stretch = 0, .first = 18, .counted_begin = 0, .counted_end = 8}) == 3);
    for (const unsigned i : {0U, 1U, 7U}) {
        DOCTEST_CHECK(labels[2 * i] == (scene.genome.labels[18 + i] & 1U));
        DOCTEST_CHECK(labels[2 * i + 1] == (scene.genome.labels[18 + i] >> 1U));
    }
}

DOCTEST_TEST_CASE("bin_data: a window sees nothing beyond its stretch") {
    const Scene scene;
    const std::string& dna = scene.genome.dna;
    const BinWindows validation = scene.windows(Split::validation);
    const BinWindow first{.stretch = 1, .first = 58, .counted_begin = 2, .counted_end = 6};
    DOCTEST_CHECK(validation.sequence(first) == std::string(40, 'N') + dna.substr(1200, 120));
    BinWindow shifted{.stretch = 1, .first = 73, .shift = 3, .counted_end = 8};
    DOCTEST_CHECK(validation.sequence(shifted) == dna.substr(73 * 20 + 3, 137) + std::string(23, 'N'));
    shifted.shift = -3;
    shifted.reverse = true;
    DOCTEST_CHECK(validation.sequence(shifted) ==
                  genome::reverse_complement(dna.substr(73 * 20 - 3, 143) + std::string(17, 'N')));
}

DOCTEST_TEST_CASE("bin_data: the reverse complement has its bins from the last to the first") {
    const Scene scene;
    const BinWindows windows = scene.windows(Split::train);
    BinWindow window{.stretch = 0, .first = 17, .counted_end = 8};
    std::vector<std::uint8_t> labels(16), counts(8), turned_labels(16), turned_counts(8);
    windows.copy_labels(window, labels, counts);
    window.reverse = true;
    windows.copy_labels(window, turned_labels, turned_counts);
    for (std::size_t i = 0; i < 8; ++i) {
        DOCTEST_CHECK(turned_counts[7 - i] == counts[i]);
        for (std::size_t label = 0; label < 2; ++label)
            DOCTEST_CHECK(turned_labels[2 * (7 - i) + label] == labels[2 * i + label]);
    }
}

DOCTEST_TEST_CASE("bin_data: the reverse complement has the numbers of a strand pair swapped") {
    const Scene scene;
    std::string values;
    for (int bin = 0; bin < 100; ++bin)
        for (const float value : {static_cast<float>(bin), static_cast<float>(100 + bin)})
            values.append(reinterpret_cast<const char*>(&value), sizeof(value));
    const std::filesystem::path folder = scene.folder / "e";
    write_file(folder / "targets.npy", npy_header("<f4", 100, std::size_t{2}) + values);
    change_example(folder / "labels.tsv",
                   rows::LabelTable({{".", "plus", 9, 1}, {".", "minus", 9, 0}}).to_text());
    Json manifest = read_json(folder / "manifest.json");
    manifest["target"] = "numbers";
    write_json(folder / "manifest.json", manifest, Overwrite::allow);
    const auto bins = examples::LabelledBins::load(folder);
    const BinWindows windows(bins, scene.config.grid(), Split::train, 1);
    std::vector<float> numbers(16);
    std::vector<std::uint8_t> counts(8);
    windows.copy_numbers({.stretch = 0, .first = 3, .counted_end = 8}, numbers, counts);
    DOCTEST_CHECK((std::vector(numbers.begin(), numbers.begin() + 4) == std::vector<float>{3, 103, 4, 104}));
    windows.copy_numbers({.stretch = 0, .first = 3, .reverse = true, .counted_end = 8}, numbers, counts);
    DOCTEST_CHECK((std::vector(numbers.begin(), numbers.begin() + 4) == std::vector<float>{110, 10, 109, 9}));
}

DOCTEST_TEST_CASE("bin_data: draws lie in the split, count a bin, and reach all of it") {
    const Scene scene;
    const BinWindows windows = scene.windows(Split::train);
    std::set<std::int64_t> firsts, shifts;
    bool forward = false, reverse = false;
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const BinWindow window = windows.draw(Rng(1).split(i), 3, true);
        DOCTEST_CHECK((window == windows.draw(Rng(1).split(i), 3, true)));
        DOCTEST_CHECK(window.stretch == 0);
        firsts.insert(window.first);
        shifts.insert(window.shift);
        (window.reverse ? reverse : forward) = true;
    }
    DOCTEST_CHECK(*firsts.begin() == 0);
    DOCTEST_CHECK(*firsts.rbegin() == 52);
    DOCTEST_CHECK(firsts.size() == 53);
    DOCTEST_CHECK((shifts == std::set<std::int64_t>{-3, -2, -1, 0, 1, 2, 3}));
    DOCTEST_CHECK((forward && reverse));
    DOCTEST_CHECK_FALSE(windows.draw(Rng(1), 0, false).reverse);
}

DOCTEST_TEST_CASE("bin_data: of many windows, some that are evenly spaced, of few, all") {
    std::vector<BinWindow> windows(10);
    for (std::size_t i = 0; i < windows.size(); ++i)
        windows[i].first = static_cast<std::int64_t>(i);
    DOCTEST_CHECK((evenly_spaced(windows, 10) == windows));
    DOCTEST_CHECK((evenly_spaced(windows, 11) == windows));
    std::vector<std::int64_t> firsts;
    for (const BinWindow& window : evenly_spaced(windows, 4))
        firsts.push_back(window.first);
    DOCTEST_CHECK((firsts == std::vector<std::int64_t>{0, 2, 5, 7}));
}

DOCTEST_TEST_CASE("bin_data: tiles count each bin of the split once") {
    Scene scene;
    scene.config.window_bins = 14;  // longer than what is left at a stretch's end
    scene.config.margin_bins = 3;
    const BinWindows windows = scene.windows(Split::validation);
    std::vector<int> counted(100, 0);
    for (const BinWindow& window : windows.tiles()) {
        std::vector<std::uint8_t> labels(28), counts(14);
        windows.copy_labels(window, labels, counts);
        for (std::size_t i = 0; i < 14; ++i)
            if (counts[i]) ++counted[static_cast<std::size_t>(window.first) + i];
    }
    for (std::size_t bin = 0; bin < 100; ++bin)
        DOCTEST_CHECK(counted[bin] == (bin >= 60 && bin < 80 ? 1 : 0));
}

DOCTEST_TEST_CASE("bin_data: what cannot be trained on is refused") {
    const Scene scene;
    const auto data = [](const examples::LabelledBins& bins) {
        return BinData(small_base_bins(1), bins, {.batch_size = 1, .positive_weight = std::nullopt});
    };
    DOCTEST_CHECK_NOTHROW(data(*scene.bins));
    write_bin_examples(scene.folder / "n", 25, 1);  // train: bins 0 to 14
    change_example(scene.folder / "n" / "bins.bed", "c\t0\t500\ttest\n");
    const examples::LabelledBins none = examples::LabelledBins::load(scene.folder / "n");
    DOCTEST_CHECK(message_of<InputError>([&] { data(none); }).find("holds no bin of train that is not N") !=
                  std::string::npos);
}
