// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motif_words.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

using namespace bigbird;
using namespace bigbird::bins;

namespace {

/// 400 bins of A and T at random, so that all are of one GC content; 60 have the label, and half of these the
/// word AATTTATA or its reverse complement, some twice; N stands in all.
LabelledSequence some_bins() {
    LabelledSequence bins{.length = 40, .background = 400, .with = {{}}};
    Rng rng = Rng(6).split("bins");
    for (std::int32_t bin = 0; bin < 400; ++bin) {
        std::string dna;
        for (int i = 0; i < 40; ++i)
            dna += "AT"[rng.between(0, 1)];
        if (bin % 7 == 0) bins.with[0].push_back(bin);
        if (bin % 14 == 0) dna.replace(3, 8, bin % 28 == 0 ? "AATTTATA" : "TATAAATT");
        if (bin % 28 == 0) dna.replace(30, 8, "TATAAATT");
        dna[25] = 'N';
        for (const char base : dna)
            bins.codes.push_back(base == 'A' ? 0 : base == 'T' ? 3 : 4);
    }
    return bins;
}

/// Words of a bin, each once, the lesser of both strands', as text.
std::set<std::string> words_in(std::span<const std::uint8_t> codes) {
    std::set<std::string> words;
    for (std::size_t begin = 0; begin + 8 <= codes.size(); ++begin) {
        std::string word, other;
        for (std::size_t i = 0; i < 8; ++i)
            word += "ACGTN"[codes[begin + i]];
        for (auto base = word.rbegin(); base != word.rend(); ++base)
            other += *base == 'A' ? 'T' : 'A';
        if (word.find('N') == std::string::npos) words.insert(std::min(word, other));
    }
    return words;
}

}  // namespace

DOCTEST_TEST_CASE("motif_words: z is that of bins counted word by word, both strands as one") {
    const LabelledSequence bins = some_bins();
    std::map<std::string, double> seen, rates;
    for (std::int32_t bin = 0; bin < 400; ++bin) {
        for (const std::string& word : words_in(bins.codes_of(bin))) {
            rates[word] += 1;
            if (bin % 7 == 0) seen[word] += 1;
        }
    }
    const std::vector<SeedWord> found = seed_words(bins, {.words = 3, .fewest_bins = 58}, 2);
    DOCTEST_REQUIRE(found.size() == 3);
    for (const SeedWord& seed : found) {
        std::string word;
        for (int i = 0; i < 8; ++i)
            word += "ACGT"[seed.word >> (14 - 2 * i) & 3];
        const double expected = 58 * (rates[word] + 1) / 420;
        DOCTEST_CHECK(seed.z == doctest::Approx((seen[word] - expected) / std::sqrt(expected + 1)));
        DOCTEST_CHECK(found[0].z >= seed.z);
    }
    std::string best;
    for (int i = 0; i < 8; ++i)
        best += "ACGT"[found[0].word >> (14 - 2 * i) & 3];
    DOCTEST_CHECK(best == "AATTTATA");
    DOCTEST_CHECK(seed_words(bins, {.words = 3, .fewest_bins = 59}, 2).empty());
}
