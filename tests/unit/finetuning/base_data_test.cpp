// SPDX-License-Identifier: Apache-2.0
#include "bigbird/finetuning/base_data.hpp"

#include "unit/tasks/labelled_genome.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tasks;

DOCTEST_TEST_CASE("base_data: long runs of N are left out, and the others' labels counted") {
    const LabelledGenome genome;
    const LabelWindows windows = genome.windows(500, 3000);
    DOCTEST_CHECK(windows.bases() == 2300);
    DOCTEST_CHECK(windows.counts() == std::vector<std::int64_t>{2300 - 23 * 52, 23 * 42, 23 * 10});
    for (const std::string& sample : windows.samples(10, 50)) {
        DOCTEST_CHECK(sample.size() <= 50);
        DOCTEST_CHECK(sample.find('N') == std::string::npos);
    }
    DOCTEST_CHECK(windows.samples(10, 50).size() >= 10);
}

DOCTEST_TEST_CASE("base_data: what is drawn lies within a stretch, on either strand") {
    const LabelledGenome genome;
    const LabelWindows windows = genome.windows(900, 2000);
    int reverse = 0, before_gap = 0;
    for (std::uint64_t i = 0; i < 300; ++i) {
        const LabelWindow window = windows.draw(Rng(1).split(i), 150, true);
        const bool before = window.where == genome::Interval{"c", 900, 1000};  // shorter than a window
        const bool behind =
            window.where.begin >= 1200 && window.where.end <= 2000 && window.where.size() == 150;
        DOCTEST_REQUIRE((before || behind));
        before_gap += before ? 1 : 0;
        reverse += window.reverse ? 1 : 0;
    }
    DOCTEST_CHECK(before_gap > 10);
    DOCTEST_CHECK(before_gap < 70);  // a ninth is expected
    DOCTEST_CHECK(reverse > 100);
    DOCTEST_CHECK(reverse < 200);
    DOCTEST_CHECK(!windows.draw(Rng(1), 150, false).reverse);
    DOCTEST_CHECK(windows.draw(Rng(9), 150, true) == windows.draw(Rng(9), 150, true));
}

DOCTEST_TEST_CASE("base_data: sequence and labels follow the strand") {
    const LabelledGenome genome;
    const LabelWindows windows = genome.windows(0, 1000);
    LabelWindow window{.where = {"c", 70, 130}, .counted_begin = 5, .counted_end = 50};
    const std::vector<std::int32_t> forward = windows.labels(window);
    DOCTEST_CHECK(windows.sequence(window) == genome.dna.substr(70, 60));
    DOCTEST_CHECK(forward[4] == -1);
    DOCTEST_CHECK(forward[10] == 2);  // noise at 80 to 90
    DOCTEST_CHECK(forward[19] == 2);
    DOCTEST_CHECK(forward[20] == 0);
    DOCTEST_CHECK(forward[50] == -1);
    window.reverse = true;
    DOCTEST_CHECK(windows.sequence(window) == genome::reverse_complement(genome.dna.substr(70, 60)));
    std::vector<std::int32_t> turned = windows.labels(window);
    std::ranges::reverse(turned);
    DOCTEST_CHECK(turned == forward);
}

DOCTEST_TEST_CASE("base_data: tiles count every base once") {
    const LabelledGenome genome;
    const LabelWindows windows = genome.windows(0, 8000);
    for (const std::int64_t margin : {0, 20}) {
        std::vector<int> times(8000, 0);
        for (const LabelWindow& tile : windows.tiles(130, margin)) {
            DOCTEST_CHECK(tile.where.size() <= 130);
            for (std::int64_t i = tile.counted_begin; i < tile.counted_end; ++i)
                ++times[static_cast<std::size_t>(tile.where.begin + i)];
        }
        for (std::size_t base = 0; base < times.size(); ++base)
            DOCTEST_REQUIRE(times[base] == (base >= 1000 && base < 1200 ? 0 : 1));
    }
}

DOCTEST_TEST_CASE("base_data: balanced weights give labels the same sum, at most 100 times the least") {
    DOCTEST_CHECK(balanced_weights({900, 100, 1, 0}) == std::vector<double>{1, 9, 100, 1});
}

DOCTEST_TEST_CASE("base_data: nothing to learn is said") {
    const LabelledGenome genome;
    const LabelSplits none{genome.windows(1000, 1200), genome.windows(0, 0)};
    const LabelSplits bare{genome.windows(90, 100), genome.windows(0, 0)};
    const auto refusal = [&](const LabelSplits& splits) {
        return message_of<InputError>(
            [&] { BaseData(tiny_labeller(1), splits, bases_info(200, 25), tiny_labels(), {}); });
    };
    DOCTEST_CHECK(refusal(none) == "no base is left to learn from that is neither N nor held out");
    DOCTEST_CHECK(refusal(bare) == "no base of train has a label: there is nothing to learn");
}
