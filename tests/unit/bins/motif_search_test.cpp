// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motif_search.hpp"

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
LabelledSequence bins_with_word() {
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

/// The sum of a site's letters in the motif's order; the site is turned where it is the other strand's.
float sum_of(std::span<const float> odds, std::vector<std::uint8_t> site, bool reverse) {
    float sum = 0;
    for (std::size_t i = 0; i < site.size(); ++i) {
        const std::size_t place = reverse ? site.size() - 1 - i : i;
        const std::span<const float> here = odds.subspan(place * 4, 4);
        const float mean = (here[0] + here[1] + here[2] + here[3]) / 4;
        sum += site[i] == 4 ? mean : here[reverse ? 3U - site[i] : site[i]];
    }
    return sum;
}

}  // namespace

DOCTEST_TEST_CASE("motif_words: z is that of bins counted word by word, both strands as one") {
    const LabelledSequence bins = bins_with_word();
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

DOCTEST_TEST_CASE("motif_scanner: the first best site of both strands, as summed letter by letter") {
    Rng rng = Rng(5).split("scanner");
    for (int repeat = 0; repeat < 50; ++repeat) {
        const std::int64_t width = rng.between(9, 21), length = rng.between(width, 60);
        std::vector<float> odds(static_cast<std::size_t>(width) * 4);
        for (float& value : odds)
            value = static_cast<float>(rng.between(-8, 8)) / 4;  // exact sums, with ties
        std::vector<std::uint8_t> codes(static_cast<std::size_t>(length));
        for (std::uint8_t& code : codes)
            code = static_cast<std::uint8_t>(std::min<std::int64_t>(4, rng.between(0, 20) / 5));
        Site expected;
        for (std::int64_t begin = 0; begin + width <= length; ++begin) {
            for (const bool reverse : {false, true}) {
                const float score =
                    sum_of(odds, {codes.begin() + begin, codes.begin() + begin + width}, reverse);
                if (score > expected.score) expected = {score, begin, reverse};
            }
        }
        const Site found = MotifScanner(odds, width).best(codes);
        DOCTEST_CHECK(found.score == expected.score);
        DOCTEST_CHECK(found.begin == expected.begin);
        DOCTEST_CHECK(found.reverse == expected.reverse);
    }
}
