// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/bin_data.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/examples/change_example.hpp"
#include "unit/tasks/bin_examples.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/formats/npy_header.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <set>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;
using examples::Split;

namespace {

struct BinDataScene {
    TempDir folder;
    BinGenome genome{100, 1};
    bins::BinsConfig config = small_bins();
    examples::LabelledBins labelled = write_bin_examples(folder / "e", 100, 1);
    BinWindows windows(Split split) const { return {labelled, config.grid(), split, 2}; }
};

}  // namespace

DOCTEST_TEST_CASE("bin_data: bins that are N do not count, labels are those of the bins that do") {
    const BinDataScene scene;
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
    const BinDataScene scene;
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
    const BinDataScene scene;
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
    const BinDataScene scene;
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

DOCTEST_TEST_CASE("bin_data: a teacher's scores of the bins that count come after the labels") {
    const BinDataScene scene;
    const BinWindows windows = scene.windows(Split::train);
    const auto examples = examples::ExampleSet::load(scene.folder / "e");
    const std::int64_t rows = std::ssize(examples.rows(Split::train));
    std::string scores;
    for (std::int64_t row = 0; row < rows; ++row)
        for (const float score : {static_cast<float>(row) / 64, 1 - static_cast<float>(row) / 64})
            scores.append(reinterpret_cast<const char*>(&score), sizeof(score));
    const auto file = scene.folder / "teacher.npy";
    write_file(file, npy_header("<f4", rows, std::size_t{2}) + scores);
    const Teacher teacher(file, examples, scene.labelled);
    std::vector<float> targets(32);
    std::vector<std::uint8_t> counts(8), labels(16), same(8);
    for (const bool reverse : {false, true}) {
        const BinWindow window{.stretch = 0, .first = 18, .reverse = reverse, .counted_end = 8};
        windows.copy_labels(window, labels, same);
        windows.copy_taught(window, teacher, targets, counts);
        DOCTEST_CHECK(counts == same);
        for (const auto& [bin, row] : {std::pair{0U, 18}, {1U, 19}, {7U, 25}}) {
            const std::size_t at = reverse ? 7 - bin : bin;
            const float score = static_cast<float>(row) / 64;
            const auto label = [&](std::size_t i) { return static_cast<float>(labels[2 * at + i]); };
            DOCTEST_CHECK((std::vector(targets.begin() + 4 * at, targets.begin() + 4 * at + 4) ==
                           std::vector{label(0), label(1), score, 1 - score}));
        }
    }
    DOCTEST_CHECK(teacher.scores(59).size() == 2);
    DOCTEST_CHECK(teacher.scores(60).empty());  // of validation
    BinData data(small_base_bins(1), scene.labelled, {.batch_size = 1, .positive_weight = std::nullopt}, {},
                 1, std::make_shared<Teacher>(file, examples, scene.labelled));
    for (const auto& [wanted, width] :
         {std::pair{data.train(0, 1).wanted, 4}, {data.validation(0, 1).wanted, 2}}) {
        DOCTEST_CHECK(wanted.targets.size(2) == width);
        DOCTEST_CHECK(wanted.targets.is_floating_point() == (width == 4));
        const at::Tensor logits = at::zeros({1, wanted.targets.size(1), 2});
        const at::Tensor loss = data.target(at::kCPU)->loss_sum(logits, wanted.targets, wanted.counts);
        DOCTEST_CHECK(std::isfinite(loss.item<double>()));
    }
    const float two = 2, none = std::numeric_limits<float>::quiet_NaN();
    const auto message_with = [&](const std::string& bytes) {
        write_file(file, npy_header("<f4", rows, std::size_t{2}) + bytes);
        return message_of<InputError>([&] { Teacher(file, examples, scene.labelled); });
    };
    std::memcpy(&scores[0], &none, 4);
    DOCTEST_CHECK(holds(message_with(scores), "is no probability"));
    std::memcpy(&scores[4], &none, 4);
    write_file(file, npy_header("<f4", rows, std::size_t{2}) + scores);
    DOCTEST_CHECK(Teacher(file, examples, scene.labelled).scores(0).empty());
    DOCTEST_CHECK(Teacher(file, examples, scene.labelled).scores(1).size() == 2);
    std::string nothing;
    for (std::int64_t row = 0; row < rows; ++row)
        nothing += scores.substr(0, 8);
    DOCTEST_CHECK(holds(message_with(nothing), "holds no scores"));
    write_file(file, npy_header("<f4", rows, std::size_t{2}) + scores.substr(4) +
                         std::string(reinterpret_cast<const char*>(&two), 4));
    DOCTEST_CHECK_THROWS_WITH_AS(Teacher(file, examples, scene.labelled),
                                 doctest::Contains("is no probability"), InputError);
    write_file(file, npy_header("<f4", rows - 1, std::size_t{2}) + scores.substr(8));
    DOCTEST_CHECK_THROWS_WITH_AS(Teacher(file, examples, scene.labelled),
                                 doctest::Contains("is no float32 .npy of 60 rows and 2 labels"), InputError);
}

DOCTEST_TEST_CASE("bin_data: draws lie in the split, count a bin, and reach all of it") {
    const BinDataScene scene;
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
    BinDataScene scene;
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
    const BinDataScene scene;
    const auto data = [](const examples::LabelledBins& bins) {
        return BinData(small_base_bins(1), bins, {.batch_size = 1, .positive_weight = std::nullopt});
    };
    DOCTEST_CHECK_NOTHROW(data(scene.labelled));
    write_bin_examples(scene.folder / "n", 25, 1);  // train: bins 0 to 14
    change_example(scene.folder / "n" / "bins.bed", "c\t0\t500\ttest\n");
    const examples::LabelledBins none = examples::LabelledBins::load(scene.folder / "n");
    DOCTEST_CHECK(holds(message_of<InputError>([&] { data(none); }), "holds no bin of train that is not N"));
}

namespace {

struct SampleScene {
    TempDir folder;
    BinGenome genome;
    examples::LabelledBins labelled;
    BinWindows windows;
    explicit SampleScene(std::int64_t count)
        : genome(count, 1),
          labelled(write_bin_examples(folder / "e", count, 1)),
          windows(labelled, small_bins().grid(), Split::train, 2) {}
    motifs::LabelledSequence sample(const SampleSize& size, std::uint64_t seed = 7) const {
        return sample_of(windows, size, Rng(seed));
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
    const SampleScene scene(100);
    const motifs::LabelledSequence all = scene.sample({.background = 55, .of_label = 1, .of_labels = 1});
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
    const SampleScene scene(3000);
    const SampleSize size{.background = 150, .of_label = 500, .of_labels = 240};
    const motifs::LabelledSequence some = scene.sample(size);
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
        DOCTEST_CHECK(holds(letters_of(some.codes_of(bin)), "GATTACA"));
}

DOCTEST_TEST_CASE("bin_sample: the seed's, and from all over the split") {
    const SampleScene scene(3000);
    const SampleSize size{.background = 300, .of_label = 200, .of_labels = 400};
    const motifs::LabelledSequence one = scene.sample(size), same = scene.sample(size);
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
    const SampleScene scene(6000);
    const motifs::LabelledSequence some = scene.sample({.background = 300, .of_label = 80, .of_labels = 160});
    const motifs::MotifSet found = motifs::find_enriched(some, {.width = 9}, 2);
    DOCTEST_REQUIRE(!found.motifs.empty());
    DOCTEST_CHECK(found.motifs.front().name == some.names[0]);
    std::string best;
    for (const motifs::Shares& column : found.motifs.front().shares)
        best += motifs::letters[static_cast<std::size_t>(std::ranges::max_element(column) - column.begin())];
    DOCTEST_CHECK_MESSAGE(
        (best.find("GATTACA") != std::string::npos || best.find("TGTAATC") != std::string::npos), best);
}
