// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/genomic_negatives.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <map>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using genome::Interval;
using genome::IntervalSet;
using genome::Strand;

DOCTEST_TEST_CASE(
    "genomic_negatives: windows lie in the zone's reach, away from what is avoided, with little N") {
    std::string dna = std::string(100, 'N');
    Rng letters(1);
    for (int i = 0; i < 900; ++i) {
        dna += "ACGT"[letters.between(0, 3)];
    }
    const auto genome = genome::in_memory_genome({{"1", dna}});
    const IntervalSet zone(std::vector<Interval>{{"1", 0, 300}, {"1", 500, 1000}});
    const IntervalSet avoided(std::vector<Interval>{{"1", 600, 700}});
    const WindowBounds bounds{-20, 10};
    const GenomicNegatives negatives(*genome, bounds, 0.0, zone, avoided);
    std::map<std::int64_t, int> hundreds;
    for (std::uint64_t i = 0; i < 2000; ++i) {
        const Strand strand = i % 2 == 0 ? Strand::forward : Strand::reverse;
        const auto drawn = negatives.draw(strand, Rng(2).split(i));
        const Interval window = window_about_tss("1", drawn.base, strand, bounds);
        DOCTEST_REQUIRE(zone.contains({"1", drawn.base, drawn.base + 1}));
        DOCTEST_REQUIRE(!avoided.overlaps(window));
        DOCTEST_REQUIRE(window.end <= 1000);
        DOCTEST_REQUIRE(drawn.sequence.find('N') == std::string::npos);
        const std::string forward = genome->fetch(window);
        DOCTEST_REQUIRE(drawn.sequence ==
                        (strand == Strand::reverse ? genome::reverse_complement(forward) : forward));
        ++hundreds[drawn.base / 100];
    }
    DOCTEST_CHECK(hundreds[2] ==
                  doctest::Approx(400).epsilon(0.35));  // all zones alike, a hundred bases each
    DOCTEST_CHECK(hundreds[8] == doctest::Approx(400).epsilon(0.35));
    DOCTEST_CHECK(hundreds.count(4) == 0);
}

DOCTEST_TEST_CASE("genomic_negatives: where there is no room, that is said") {
    const auto genome = genome::in_memory_genome({{"1", std::string(100, 'A')}});
    const IntervalSet zone(std::vector<Interval>{{"1", 0, 100}});
    const GenomicNegatives full(*genome, {-20, 20}, 0.5, zone,
                                IntervalSet(std::vector<Interval>{{"1", 30, 70}}));
    DOCTEST_CHECK_THROWS_AS(full.draw(Strand::forward, Rng(1)), ConfigError);
    const GenomicNegatives nowhere(*genome, {-20, 20}, 0.5, IntervalSet(), IntervalSet());
    DOCTEST_CHECK_THROWS_AS(nowhere.draw(Strand::forward, Rng(1)), ConfigError);
}
