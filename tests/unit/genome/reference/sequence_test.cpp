// SPDX-License-Identifier: Apache-2.0
#include "bigbird/genome/reference/sequence.hpp"

#include "support/testing.hpp"

#include <map>
#include <set>
#include <string>
#include <string_view>

using namespace bigbird::genome;
using namespace bigbird;

DOCTEST_TEST_CASE("sequence: every byte becomes A, C, G, T or N") {
    for (int byte = 0; byte < 256; ++byte) {
        std::string dna(33, static_cast<char>(byte));  // long enough for vector code and its remainder
        normalise(dna);
        const std::size_t at = std::string_view("ACGTUacgtu").find(static_cast<char>(byte));
        const char expected = at == std::string_view::npos ? 'N' : "ACGTTACGTT"[at];
        DOCTEST_CAPTURE(byte);
        DOCTEST_CHECK(dna == std::string(33, expected));
    }
}

DOCTEST_TEST_CASE("sequence: the share of N") {
    DOCTEST_CHECK(n_fraction("") == 0.0);
    DOCTEST_CHECK(n_fraction("ACGT") == 0.0);
    DOCTEST_CHECK(n_fraction("NNAC") == 0.5);
    DOCTEST_CHECK(n_fraction("NNN") == 1.0);
}

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
