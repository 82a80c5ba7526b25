// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/enriched_motifs.hpp"

#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <string>

using namespace bigbird;
using namespace bigbird::motifs;

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

constexpr std::string_view hidden = "GCCACCAGGGGTAC";  // on either strand of the bins of label 1

std::vector<std::uint8_t> codes_of_site(std::string_view dna) {
    std::vector<std::uint8_t> codes;
    for (const char base : dna)
        codes.push_back(static_cast<std::uint8_t>(std::string_view("ACGT").find(base)));
    return codes;
}

std::vector<std::uint8_t> turned(std::vector<std::uint8_t> codes) {
    std::ranges::reverse(codes);
    for (std::uint8_t& code : codes)
        code = static_cast<std::uint8_t>(3 - code);
    return codes;
}

/// 1,200 random bins of 100 bases, one in twelve with the motif, of which each letter is another one in ten
/// times; label 0 is random.
LabelledSequence bins_with_motif(double errors = 0.1) {
    LabelledSequence bins{
        .length = 100, .background = 1200, .with = {{}, {}}, .names = {"other", "K562 CTCF"}};
    Rng rng = Rng(4).split("bins");
    for (std::int32_t bin = 0; bin < 1200; ++bin) {
        std::vector<std::uint8_t> codes;
        for (std::int64_t i = 0; i < bins.length; ++i)
            codes.push_back(static_cast<std::uint8_t>(rng.between(0, 3)));
        const bool with = bin % 12 == 5;
        if (with) {
            std::vector<std::uint8_t> site = codes_of_site(hidden);
            for (std::uint8_t& code : site)
                if (rng.uniform() < errors) code = static_cast<std::uint8_t>(rng.between(0, 3));
            if (rng.between(0, 1) == 1) site = turned(site);
            std::ranges::copy(site, codes.begin() + rng.between(0, 100 - std::ssize(site)));
        }
        bins.codes.insert(bins.codes.end(), codes.begin(), codes.end());
        if (rng.between(0, 11) == 0) bins.with[0].push_back(bin);
        if (with) bins.with[1].push_back(bin);
    }
    return bins;
}

/// The letter with the largest share at each place.
std::string best_letters(const Motif& motif) {
    std::string best;
    for (const Shares& column : motif.shares)
        best += letters[static_cast<std::size_t>(std::ranges::max_element(column) - column.begin())];
    return best;
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

DOCTEST_TEST_CASE("motif_aligner: the first best site of both strands, as summed letter by letter") {
    Rng rng = Rng(5).split("scanner");
    for (int repeat = 0; repeat < 50; ++repeat) {
        const std::int64_t width = rng.between(9, 21), length = rng.between(width, 60);
        std::vector<float> odds(static_cast<std::size_t>(width) * 4);
        for (float& value : odds)
            value = static_cast<float>(rng.between(-8, 8)) / 4;  // exact sums, with ties
        std::vector<std::uint8_t> codes(static_cast<std::size_t>(length));
        for (std::uint8_t& code : codes)
            code = static_cast<std::uint8_t>(std::min<std::int64_t>(4, rng.between(0, 20) / 5));
        BestSite expected;
        for (std::int64_t begin = 0; begin + width <= length; ++begin) {
            for (const bool reverse : {false, true}) {
                const float score =
                    sum_of(odds, {codes.begin() + begin, codes.begin() + begin + width}, reverse);
                if (score > expected.score) expected = {score, begin, reverse};
            }
        }
        const BestSite found = Aligner(odds).best(codes);
        DOCTEST_CHECK(found.score == expected.score);
        DOCTEST_CHECK(found.begin == expected.begin);
        DOCTEST_CHECK(found.reverse == expected.reverse);
    }
}

DOCTEST_TEST_CASE("motifs: what a label's bins share is found, on both strands, and whole") {
    const LabelledSequence bins = bins_with_motif();
    const std::vector<Motif> motifs = find_enriched(bins, {.width = 15}, 2).motifs;
    DOCTEST_REQUIRE(!motifs.empty());
    const Motif& first = motifs.front();
    DOCTEST_CHECK(first.id == "motif_1");
    DOCTEST_CHECK(first.name == "K562_CTCF");
    DOCTEST_CHECK(first.sites > 80);
    const std::string found = best_letters(first), core = "CCACCAGGGG", other = "CCCCTGGTGG";
    DOCTEST_CHECK_MESSAGE((found.find(core) != std::string::npos || found.find(other) != std::string::npos),
                          found);
    for (const std::size_t i : {std::size_t{1}, motifs.size() - 1})  // nothing twice
        if (i > 0 && i < motifs.size()) DOCTEST_CHECK(motifs[i].sites < first.sites);
}

DOCTEST_TEST_CASE("motifs: the same for any number of threads, rare labels are not searched") {
    const LabelledSequence bins = bins_with_motif();
    const std::vector<Motif> one = find_enriched(bins, {.width = 11}, 1).motifs,
                             four = find_enriched(bins, {.width = 11}, 4).motifs;
    DOCTEST_REQUIRE(one.size() == four.size());
    for (std::size_t i = 0; i < one.size(); ++i)
        DOCTEST_CHECK(one[i].shares == four[i].shares);
    DOCTEST_CHECK(find_enriched(bins, {.fewest_bins = 200}, 1).motifs.empty());
    DOCTEST_CHECK(find_enriched({.length = 100, .with = {{}, {}}}, {}, 1).motifs.empty());
    DOCTEST_CHECK(find_enriched(bins, {.width = 11, .most = 1}, 1).motifs.size() == 1);
}

DOCTEST_TEST_CASE("motifs: bins beside the background count for their label only") {
    const LabelledSequence all = bins_with_motif();
    LabelledSequence some{.length = 100, .background = 600, .with = all.with, .names = all.names};
    std::erase_if(some.with[0], [](std::int32_t bin) { return bin >= 600; });
    const auto half = all.codes_of(0, 600);
    some.codes.assign(half.begin(), half.end());
    some.with[1].clear();
    for (const std::int32_t bin : all.with[1]) {
        some.with[1].push_back(bin < 600 ? bin : static_cast<std::int32_t>(some.bins()));
        const auto codes = all.codes_of(bin);
        if (bin >= 600) some.codes.insert(some.codes.end(), codes.begin(), codes.end());
    }
    const Motif from_all = find_enriched(all, {.width = 15}, 1).motifs.front(),
                from_some = find_enriched(some, {.width = 15}, 1).motifs.front();
    DOCTEST_CHECK(from_some.name == "K562_CTCF");
    DOCTEST_CHECK(best_letters(from_some) == best_letters(from_all));
    DOCTEST_CHECK(std::abs(from_some.sites - from_all.sites) < 5);
}

DOCTEST_TEST_CASE("motifs: N is no letter of a word or a site, and widths that cannot be are refused") {
    LabelledSequence bins = bins_with_motif(0);
    const std::vector<Motif> before = find_enriched(bins, {.width = 15}, 1).motifs;
    for (std::size_t bin = 0; bin < 1200; bin += 12)  // bins without the label
        std::fill_n(bins.codes.begin() + static_cast<std::ptrdiff_t>(bin * 100), 100, std::uint8_t{4});
    const std::vector<Motif> after = find_enriched(bins, {.width = 15}, 1).motifs;
    DOCTEST_CHECK(best_letters(after.front()).substr(3, 8) == best_letters(before.front()).substr(3, 8));
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { find_enriched(bins, {.width = 8}, 1).motifs; }) ==
                  "motifs must be between 9 and 100 bases wide, not 8; "
                  "--motifs 0 begins all filters at random");
    DOCTEST_CHECK_THROWS_AS(find_enriched(bins, {.width = 101}, 1).motifs, ConfigError);
}

DOCTEST_TEST_CASE("motifs: the background is that of both strands, and odds are of shares over it") {
    LabelledSequence bins = bins_with_motif();
    const MotifSet set = find_enriched(bins, {.width = 15}, 1);
    DOCTEST_CHECK(set.background[0] == set.background[3]);
    DOCTEST_CHECK(set.background[1] == doctest::Approx(0.25).epsilon(0.02));
    const Motif& motif = set.motifs.front();
    const std::vector<float> odds = odds_of(motif, set.background);
    DOCTEST_REQUIRE(odds.size() == 60);
    DOCTEST_CHECK(odds[21] == static_cast<float>(std::log2(motif.shares[5][1] / set.background[1])));
}
