// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/dinucleotide_shuffle.hpp"

#include "support/testing.hpp"

#include <map>
#include <set>

using namespace bigbird;

namespace {

std::map<std::string, int> dinucleotides_of(const std::string& dna) {
    std::map<std::string, int> counts;
    for (std::size_t i = 0; i + 1 < dna.size(); ++i)
        ++counts[dna.substr(i, 2)];
    return counts;
}

}  // namespace

DOCTEST_TEST_CASE("dinucleotide_shuffle: the same dinucleotides and ends in another order, N in place") {
    std::string dna;
    Rng rng(1);
    for (int i = 0; i < 300; ++i)
        dna += "ACGT"[rng.between(0, 3)];
    dna.replace(100, 4, "NNNN");
    std::set<std::string> seen;
    for (int i = 0; i < 50; ++i) {
        const std::string other = genome::dinucleotide_shuffle(dna, rng);
        DOCTEST_CHECK(dinucleotides_of(other) == dinucleotides_of(dna));
        DOCTEST_CHECK(other.front() == dna.front());
        DOCTEST_CHECK(other.back() == dna.back());
        DOCTEST_CHECK(other.substr(100, 4) == "NNNN");
        seen.insert(other);
    }
    DOCTEST_CHECK(seen.size() == 50);
    DOCTEST_CHECK(seen.count(dna) == 0);
}

DOCTEST_TEST_CASE("dinucleotide_shuffle: every order is equally likely, and short sequences stay") {
    // A A and C may follow A: AACACA has 3 orders of its dinucleotides.
    Rng rng(2);
    std::map<std::string, int> counts;
    constexpr int draws = 6000;
    for (int i = 0; i < draws; ++i)
        ++counts[genome::dinucleotide_shuffle("AACACA", rng)];
    DOCTEST_REQUIRE(counts.size() == 3);
    for (const auto& [order, count] : counts)
        DOCTEST_CHECK(std::abs(count - draws / 3) < 150);
    for (const char* dna : {"", "A", "N", "ACG", "NANCN", "AAAA"})
        DOCTEST_CHECK(genome::dinucleotide_shuffle(dna, rng) == dna);
}
