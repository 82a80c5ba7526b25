// SPDX-License-Identifier: Apache-2.0
#include "bigbird/bins/motifs.hpp"

#include "support/tensors.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"

#include <ATen/ATen.h>

#include <cmath>

using namespace bigbird;
using namespace bigbird::bins;

namespace {

constexpr std::string_view hidden = "GCCACCAGGGGTAC";  // on either strand of the bins of label 1

std::vector<std::uint8_t> codes_of_letters(std::string_view dna) {
    std::vector<std::uint8_t> codes;
    for (const char base : dna)
        codes.push_back(static_cast<std::uint8_t>(std::string_view("ACGT").find(base)));
    return codes;
}

std::vector<std::uint8_t> reverse_complement(std::vector<std::uint8_t> codes) {
    std::ranges::reverse(codes);
    for (std::uint8_t& code : codes)
        code = static_cast<std::uint8_t>(3 - code);
    return codes;
}

/// 1,200 random bins of 100 bases, one in twelve with the motif, of which each letter is another one in ten
/// times; label 0 is random.
LabelledSequence bins_with_motif(double errors = 0.1) {
    LabelledSequence bins{.length = 100, .background = 1200, .with = {{}, {}}};
    Rng rng = Rng(4).split("bins");
    for (std::int32_t bin = 0; bin < 1200; ++bin) {
        std::vector<std::uint8_t> codes;
        for (std::int64_t i = 0; i < bins.length; ++i)
            codes.push_back(static_cast<std::uint8_t>(rng.between(0, 3)));
        const bool with = bin % 12 == 5;
        if (with) {
            std::vector<std::uint8_t> site = codes_of_letters(hidden);
            for (std::uint8_t& code : site)
                if (rng.uniform() < errors) code = static_cast<std::uint8_t>(rng.between(0, 3));
            if (rng.between(0, 1) == 1) site = reverse_complement(site);
            std::ranges::copy(site, codes.begin() + rng.between(0, 100 - std::ssize(site)));
        }
        bins.codes.insert(bins.codes.end(), codes.begin(), codes.end());
        if (rng.between(0, 11) == 0) bins.with[0].push_back(bin);
        if (with) bins.with[1].push_back(bin);
    }
    return bins;
}

/// The letter with the best odds at each place.
std::string letters_of(const Motif& motif) {
    std::string letters;
    for (std::size_t i = 0; i < motif.odds.size(); i += 4) {
        const auto best = std::max_element(motif.odds.begin() + static_cast<std::ptrdiff_t>(i),
                                           motif.odds.begin() + static_cast<std::ptrdiff_t>(i) + 4);
        letters += "ACGT"[static_cast<std::size_t>(best - motif.odds.begin()) - i];
    }
    return letters;
}

}  // namespace

DOCTEST_TEST_CASE("motifs: what a label's bins share is found, on both strands, and whole") {
    const LabelledSequence bins = bins_with_motif();
    const std::vector<Motif> motifs = find_motifs(bins, {.width = 15}, 2);
    DOCTEST_REQUIRE(!motifs.empty());
    const Motif& first = motifs.front();
    DOCTEST_CHECK(first.label == 1);
    DOCTEST_CHECK(first.sites > 80);
    DOCTEST_CHECK(first.enrichment > 25);
    const std::string found = letters_of(first), core = "CCACCAGGGG", other = "CCCCTGGTGG";
    DOCTEST_CHECK_MESSAGE((found.find(core) != std::string::npos || found.find(other) != std::string::npos),
                          found);
    for (const std::size_t i : {std::size_t{1}, motifs.size() - 1})  // nothing twice
        if (i > 0 && i < motifs.size()) DOCTEST_CHECK(motifs[i].enrichment < first.enrichment);
}

DOCTEST_TEST_CASE("motifs: the same for any number of threads, rare labels are not searched") {
    const LabelledSequence bins = bins_with_motif();
    const std::vector<Motif> one = find_motifs(bins, {.width = 11}, 1),
                             four = find_motifs(bins, {.width = 11}, 4);
    DOCTEST_REQUIRE(one.size() == four.size());
    for (std::size_t i = 0; i < one.size(); ++i)
        DOCTEST_CHECK(one[i].odds == four[i].odds);
    DOCTEST_CHECK(find_motifs(bins, {.fewest_bins = 200}, 1).empty());
    DOCTEST_CHECK(find_motifs({.length = 100, .with = {{}, {}}}, {}, 1).empty());
    DOCTEST_CHECK(find_motifs(bins, {.width = 11, .most = 1}, 1).size() == 1);
}

DOCTEST_TEST_CASE("motifs: bins beside the background count for their label only") {
    const LabelledSequence all = bins_with_motif();
    LabelledSequence some{.length = 100, .background = 600, .with = all.with};
    std::erase_if(some.with[0], [](std::int32_t bin) { return bin >= 600; });
    const auto half = all.codes_of(0, 600);
    some.codes.assign(half.begin(), half.end());
    some.with[1].clear();
    for (const std::int32_t bin : all.with[1]) {
        some.with[1].push_back(bin < 600 ? bin : static_cast<std::int32_t>(some.bins()));
        const auto codes = all.codes_of(bin);
        if (bin >= 600) some.codes.insert(some.codes.end(), codes.begin(), codes.end());
    }
    const Motif from_all = find_motifs(all, {.width = 15}, 1).front(),
                from_some = find_motifs(some, {.width = 15}, 1).front();
    DOCTEST_CHECK(from_some.label == 1);
    DOCTEST_CHECK(letters_of(from_some) == letters_of(from_all));
    DOCTEST_CHECK(std::abs(from_some.sites - from_all.sites) < 5);
}

DOCTEST_TEST_CASE("motifs: N is no letter of a word or a site, and widths that cannot be are refused") {
    LabelledSequence bins = bins_with_motif(0);
    const std::vector<Motif> before = find_motifs(bins, {.width = 15}, 1);
    for (std::size_t bin = 0; bin < 1200; bin += 12)  // bins without the label
        std::fill_n(bins.codes.begin() + static_cast<std::ptrdiff_t>(bin * 100), 100, std::uint8_t{4});
    const std::vector<Motif> after = find_motifs(bins, {.width = 15}, 1);
    DOCTEST_CHECK(letters_of(after.front()).substr(3, 8) == letters_of(before.front()).substr(3, 8));
    DOCTEST_CHECK(testing::message_of<ConfigError>([&] { find_motifs(bins, {.width = 8}, 1); }) ==
                  "motifs must be between 9 and 100 bases wide, not 8; "
                  "--motifs 0 begins all filters at random");
    DOCTEST_CHECK_THROWS_AS(find_motifs(bins, {.width = 101}, 1), ConfigError);
}

DOCTEST_TEST_CASE("motifs: planted over the first filters, centred, of the norm asked for") {
    Motif motif{.odds = {}};
    for (int i = 0; i < 9; ++i)
        for (const float odds : {2.0F, -1.0F, -1.0F, 4.0F})
            motif.odds.push_back(odds + static_cast<float>(i == 4));
    const at::Tensor weight = at::zeros({3, 4, 15});
    weight.select(0, 1).fill_(8);
    plant_motifs(weight, std::vector{motif}, 2);
    DOCTEST_CHECK(weight[0].norm().item<double>() == doctest::Approx(2));
    DOCTEST_CHECK(weight[0].sum(0).abs().max().item<double>() < 1e-5);
    DOCTEST_CHECK(weight[0].select(1, 2).abs().max().item<double>() == 0);  // beside the motif
    DOCTEST_CHECK(weight[0][3][3].item<double>() > weight[0][0][3].item<double>());
    DOCTEST_CHECK(at::equal(weight[1], at::full({4, 15}, 8.0F)));
    const at::Tensor narrow = at::ones({1, 4, 5});
    plant_motifs(narrow, std::vector{motif, motif}, 1);
    DOCTEST_CHECK((narrow[0] - 0.25).norm().item<double>() == doctest::Approx(1));
}

DOCTEST_TEST_CASE("motifs: shares and background come back from odds") {
    const std::vector<motifs::Shares> shares{
        {0.7, 0.1, 0.1, 0.1}, {0.05, 0.85, 0.05, 0.05}, {0.25, 0.25, 0.25, 0.25}};
    const motifs::Shares background{0.295, 0.205, 0.205, 0.295};
    Motif motif{.label = 1, .sites = 37, .gc = 0.41};
    for (const motifs::Shares& place : shares)
        for (std::size_t letter = 0; letter < 4; ++letter)
            motif.odds.push_back(static_cast<float>(std::log2(place[letter] / background[letter])));
    const std::vector<std::string> labels{"other", "K562 CTCF"};
    const motifs::MotifSet set = as_shares(std::vector{motif}, labels);
    DOCTEST_CHECK(set.background[0] == doctest::Approx(0.295).epsilon(1e-4));
    DOCTEST_REQUIRE(set.motifs.size() == 1);
    DOCTEST_CHECK(set.motifs[0].id == "motif_1");
    DOCTEST_CHECK(set.motifs[0].name == "K562_CTCF");
    DOCTEST_CHECK(set.motifs[0].sites == 37);
    DOCTEST_REQUIRE(set.motifs[0].shares.size() == 3);
    for (std::size_t i = 0; i < 3; ++i)
        for (std::size_t letter = 0; letter < 4; ++letter)
            DOCTEST_CHECK(set.motifs[0].shares[i][letter] ==
                          doctest::Approx(shares[i][letter]).epsilon(1e-4));
    DOCTEST_CHECK(as_shares({}, {}).motifs.empty());
}
