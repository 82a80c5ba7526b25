// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/examples/build/promoters.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <vector>

using namespace bigbird;
using namespace bigbird::rows;
using namespace bigbird::examples;
using genome::Interval;
using genome::IntervalSet;
using genome::Strand;

namespace {

std::string random_bases(Rng rng, int length) {
    std::string dna;
    for (int i = 0; i < length; ++i)
        dna += "ACGT"[rng.between(0, 3)];
    return dna;
}

/// Pieces that stand unchanged.
std::set<int> kept_pieces(const std::string& positive, const std::string& negative) {
    std::set<int> kept;
    const std::size_t piece = positive.size() / 20;
    for (std::size_t i = 0; i < 20; ++i)
        if (positive.compare(i * piece, piece, negative, i * piece, piece) == 0)
            kept.insert(static_cast<int>(i));
    return kept;
}

}  // namespace

DOCTEST_TEST_CASE("negatives: 8 of 20 pieces stay in place, 12 become random bases, any of them") {
    std::array<int, 20> kept_times{};
    std::array<int, 256> letters{};
    for (std::uint64_t i = 0; i < 400; ++i) {
        const std::string positive = random_bases(Rng(1).split(i), 8000);
        const std::string negative = make_negative(positive, NegativeKind::random_bases, Rng(2).split(i));
        DOCTEST_REQUIRE(negative.size() == positive.size());
        const std::set<int> kept = kept_pieces(positive, negative);
        DOCTEST_REQUIRE(kept.size() == 8);
        for (int piece = 0; piece < 20; ++piece) {
            kept_times[static_cast<std::size_t>(piece)] += kept.contains(piece) ? 1 : 0;
            if (!kept.contains(piece))
                for (std::size_t p = static_cast<std::size_t>(piece) * 400;
                     p < static_cast<std::size_t>(piece + 1) * 400; ++p)
                    ++letters[static_cast<unsigned char>(negative[p])];
        }
    }
    for (const int times : kept_times)
        DOCTEST_CHECK(times == doctest::Approx(160).epsilon(0.3));  // 8 of 20; sd 9.8
    for (const char letter : {'A', 'C', 'G', 'T'})
        DOCTEST_CHECK(letters[static_cast<unsigned char>(letter)] == doctest::Approx(480'000).epsilon(0.01));
}

DOCTEST_TEST_CASE("negatives: permuted pieces are the same pieces in other places") {
    const std::string positive = random_bases(Rng(5), 300);
    std::set<std::string> seen;
    for (std::uint64_t i = 0; i < 50; ++i) {
        const std::string negative = make_negative(positive, NegativeKind::permuted, Rng(6).split(i));
        DOCTEST_CHECK(kept_pieces(positive, negative).size() >= 8);
        DOCTEST_CHECK(kept_pieces(positive, negative).size() < 20);
        std::vector<std::string> before, after;
        for (std::size_t p = 0; p < 300; p += 15) {
            before.push_back(positive.substr(p, 15));
            after.push_back(negative.substr(p, 15));
        }
        std::sort(before.begin(), before.end());
        std::sort(after.begin(), after.end());
        DOCTEST_CHECK(before == after);
        seen.insert(negative);
    }
    DOCTEST_CHECK(seen.size() == 50);
}

DOCTEST_TEST_CASE("negatives: a shuffled promoter keeps the number of each dinucleotide") {
    const std::string positive = random_bases(Rng(5), 300) + "NNN" + random_bases(Rng(6), 300);
    const auto pairs = [](const std::string& dna) {
        std::map<std::string, int> counts;
        for (std::size_t i = 0; i + 1 < dna.size(); ++i)
            ++counts[dna.substr(i, 2)];
        return counts;
    };
    const std::string negative = make_negative(positive, NegativeKind::shuffled, Rng(7));
    DOCTEST_CHECK(negative != positive);
    DOCTEST_CHECK(pairs(negative) == pairs(positive));
}

DOCTEST_TEST_CASE("negatives: lengths that do not divide by 20 keep their length and composition") {
    for (const int length : {20, 21, 39, 251, 8001}) {
        const std::string positive = random_bases(Rng(8), length);
        std::string permuted = make_negative(positive, NegativeKind::permuted, Rng(9));
        DOCTEST_CHECK(make_negative(positive, NegativeKind::random_bases, Rng(9)).size() == positive.size());
        std::string sorted = positive;
        std::sort(sorted.begin(), sorted.end());
        std::sort(permuted.begin(), permuted.end());
        DOCTEST_CHECK(permuted == sorted);
    }
}

DOCTEST_TEST_CASE("negatives: a fixed function of the generator") {
    const std::string positive = random_bases(Rng(5), 300);
    for (const NegativeKind kind :
         {NegativeKind::random_bases, NegativeKind::permuted, NegativeKind::shuffled}) {
        DOCTEST_CHECK(make_negative(positive, kind, Rng(1)) == make_negative(positive, kind, Rng(1)));
        DOCTEST_CHECK(make_negative(positive, kind, Rng(1)) != make_negative(positive, kind, Rng(2)));
    }
}

DOCTEST_TEST_CASE(
    "genomic_negatives: windows lie in the zone's reach, away from what is avoided, with little N") {
    std::string dna = std::string(100, 'N');
    Rng letters(1);
    for (int i = 0; i < 900; ++i)
        dna += "ACGT"[letters.between(0, 3)];
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
        DOCTEST_REQUIRE(!testing::holds(drawn.sequence, "N"));
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
