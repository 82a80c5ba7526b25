// SPDX-License-Identifier: Apache-2.0
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/sequence.hpp"
#include "bigbird/motifs/motif_commands.hpp"

#include <algorithm>
#include <limits>

using namespace bigbird;
using namespace bigbird::motifs;

namespace {

const std::string raises = "TGACTCATCC", lowers = "GGCGGAAGTA";

/// Regions of 80 bases with contributions about 0; two in three hold `raises`, one in three `lowers`, on
/// either strand, each letter another one in ten times.
std::vector<Contributions> some_regions(std::int64_t count, bool with_sites = true) {
    std::vector<Contributions> regions;
    Rng rng = Rng(7).split("regions");
    for (std::int64_t i = 0; i < count; ++i) {
        Contributions& region = regions.emplace_back();
        for (int base = 0; base < 80; ++base) {
            region.dna += "ACGT"[rng.between(0, 3)];
            region.values.push_back(static_cast<float>(0.05 * rng.normal()));
        }
        if (!with_sites) continue;
        std::string site = i % 3 == 0 ? lowers : raises;
        for (char& letter : site)
            if (rng.between(0, 9) == 0) letter = "ACGT"[rng.between(0, 3)];
        if (rng.between(0, 1) == 1) site = genome::reverse_complement(site);
        const auto at = static_cast<std::size_t>(rng.between(0, 70));
        region.dna.replace(at, site.size(), site);
        for (std::size_t j = at; j < at + site.size(); ++j)
            region.values[j] += i % 3 == 0 ? -1.0F : 1.0F;
    }
    return regions;
}

std::string likeliest(const Motif& motif) {
    std::string letters;
    for (const Shares& column : motif.shares)
        letters += "ACGT"[std::ranges::max_element(column) - column.begin()];
    return letters;
}

bool spells(const Motif& motif, const std::string& site) {
    return likeliest(motif).find(site) != std::string::npos ||
           likeliest(reverse_complement(motif)).find(site) != std::string::npos;
}

}  // namespace

DOCTEST_TEST_CASE("find_motifs: planted motifs that raise and lower a score come back with their sites") {
    const FoundMotifs found = find_motifs(some_regions(150));
    DOCTEST_CHECK(found.seqlets >= 140);
    DOCTEST_CHECK(found.seqlets <= 165);
    DOCTEST_REQUIRE(found.motifs.size() == 2);
    DOCTEST_CHECK(found.motifs[0].id == "pattern_1");
    DOCTEST_CHECK(found.motifs[1].id == "negative_pattern_2");
    DOCTEST_CHECK(spells(found.motifs[0], raises));
    DOCTEST_CHECK(spells(found.motifs[1], lowers));
    DOCTEST_CHECK(found.motifs[0].sites > 85);
    DOCTEST_CHECK(found.motifs[1].sites > 42);
    DOCTEST_CHECK(found.motifs[0].shares.size() <= 14);
    for (const Motif& motif : found.motifs)
        for (const Shares& column : motif.shares)
            DOCTEST_CHECK(column[0] + column[1] + column[2] + column[3] == doctest::Approx(1));
}

DOCTEST_TEST_CASE("find_motifs: two bases are no motif") {
    std::vector<Contributions> regions = some_regions(90, false);
    for (std::size_t i = 0; i < regions.size(); i += 3) {
        regions[i].dna.replace(40, 2, "TG");
        regions[i].values[40] = regions[i].values[41] = 5;
    }
    const FoundMotifs found = find_motifs(regions);
    DOCTEST_CHECK(found.seqlets >= 25);
    DOCTEST_CHECK(found.motifs.empty());
}

DOCTEST_TEST_CASE("find_motifs: contributions in no order, few regions and none have no motifs") {
    DOCTEST_CHECK(find_motifs(some_regions(150, false)).motifs.empty());
    DOCTEST_CHECK(find_motifs(some_regions(8)).motifs.empty());
    DOCTEST_CHECK(find_motifs({}).seqlets == 0);
    DOCTEST_CHECK(find_motifs(std::vector<Contributions>{{"ACGT", {1, 1, 1, 1}}, {"", {}}}).seqlets == 0);
    std::vector<Contributions> missing = some_regions(150);
    for (Contributions& region : missing) {
        region.dna[3] = 'N';
        region.values[5] = std::numeric_limits<float>::quiet_NaN();
    }
    DOCTEST_CHECK(find_motifs(missing).motifs.size() == 2);
}
