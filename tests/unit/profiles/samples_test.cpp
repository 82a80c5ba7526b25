// SPDX-License-Identifier: Apache-2.0
#include "bigbird/profiles/samples.hpp"

#include "support/testing.hpp"

#include <map>

using namespace bigbird;
using namespace bigbird::profiles;

namespace {

std::vector<Region> regions_from(std::int64_t first, int count) {
    std::vector<Region> regions;
    for (int i = 0; i < count; ++i)
        regions.push_back({0, first + 10 * i});
    return regions;
}

}  // namespace

DOCTEST_TEST_CASE("an epoch has each peak once, shifted, and some background, unshifted") {
    SampleOrder order(regions_from(0, 40), regions_from(1000, 30), 10, 5, 7);
    DOCTEST_REQUIRE(order.epoch_size() == 50);
    std::map<Region, int> seen;
    int background = 0, reverse = 0, shifted = 0;
    for (std::int64_t i = 0; i < 50; ++i) {
        const Sample sample = order.at(i);
        ++seen[sample.region];
        reverse += sample.reverse ? 1 : 0;
        shifted += sample.shift != 0 ? 1 : 0;
        DOCTEST_CHECK(std::abs(sample.shift) <= 5);
        if (sample.region.centre < 1000) continue;
        ++background;
        DOCTEST_CHECK(sample.shift == 0);
    }
    DOCTEST_CHECK(seen.size() == 50);
    DOCTEST_CHECK(background == 10);
    DOCTEST_CHECK((reverse > 10 && reverse < 40));
    DOCTEST_CHECK(shifted > 20);
}

DOCTEST_TEST_CASE("background by itself is shifted") {
    SampleOrder order({}, regions_from(1000, 30), 30, 5, 7);
    int shifted = 0;
    for (std::int64_t i = 0; i < 30; ++i) {
        const std::int64_t shift = order.at(i).shift;
        DOCTEST_CHECK(std::abs(shift) <= 5);
        shifted += shift != 0 ? 1 : 0;
    }
    DOCTEST_CHECK(shifted > 20);
}

DOCTEST_TEST_CASE("a sample follows from its number and the seed") {
    SampleOrder forwards(regions_from(0, 20), regions_from(1000, 20), 5, 9, 3),
        backwards(regions_from(0, 20), regions_from(1000, 20), 5, 9, 3);
    const Sample late = backwards.at(60);
    for (std::int64_t i = 0; i < 60; ++i)
        forwards.at(i);
    DOCTEST_CHECK(forwards.at(60).region == late.region);
    DOCTEST_CHECK(forwards.at(60).shift == late.shift);
    DOCTEST_CHECK(forwards.at(60).reverse == late.reverse);
}

DOCTEST_TEST_CASE("the region's centre is at half of the input and of the output, on both strands") {
    const auto reference =
        genome::in_memory_genome({{"c", std::string(40, 'A') + "CG" + std::string(58, 'T')}});
    CutCounts sites(reference->contigs());
    sites.add(0, 40);
    sites.add(0, 40);
    sites.finish();
    const WindowSource source(*reference, sites, 20, 8);
    const Sample sample{{0, 40}};
    DOCTEST_CHECK(source.dna(sample) == std::string(10, 'A') + "CG" + std::string(8, 'T'));
    std::vector<float> counts(8);
    source.counts(sample, counts);
    DOCTEST_CHECK(counts == std::vector<float>{0, 0, 0, 0, 2, 0, 0, 0});
    DOCTEST_CHECK(source.total(sample.region) == 2);
    source.counts({{0, 40}, 0, true}, counts);
    DOCTEST_CHECK(counts == std::vector<float>{0, 0, 0, 2, 0, 0, 0, 0});
    DOCTEST_CHECK(source.dna({{0, 40}, 0, true}).substr(8, 2) == "CG");
    source.counts({{0, 40}, 1, false}, counts);
    DOCTEST_CHECK(counts == std::vector<float>{0, 0, 0, 2, 0, 0, 0, 0});
}
