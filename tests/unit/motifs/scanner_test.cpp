// SPDX-License-Identifier: Apache-2.0
#include "bigbird/motifs/scanner.hpp"

#include "support/testing.hpp"

#include "bigbird/motifs/motif_commands.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <random>
#include <tuple>

using namespace bigbird;
using namespace bigbird::motifs;
using bigbird::testing::test_data;

namespace {

std::string random_dna(std::size_t length, std::uint64_t seed) {
    std::mt19937_64 random(seed);
    std::string dna(length, 'A');
    for (char& letter : dna)
        letter = "ACGT"[random() % 4];
    return dna;
}

Motif random_motif(std::size_t width, std::uint64_t seed) {
    const std::string dna = random_dna(3 * width, seed);
    Motif motif{.id = "m" + std::to_string(seed), .sites = 40};
    for (std::size_t i = 0; i < width; ++i) {
        Shares column{0.1, 0.1, 0.1, 0.1};
        for (std::size_t j = 3 * i; j < 3 * i + 3; ++j)
            column[std::string("ACGT").find(dna[j])] += 0.2;
        motif.shares.push_back(column);
    }
    return motif;
}

std::string fasta_letters() {
    std::ifstream file(test_data("motifs/sequence.fa"));
    std::string line;
    std::getline(file, line);
    std::getline(file, line);
    return line;
}

}  // namespace

DOCTEST_TEST_CASE("scanner: finds what looking at each site finds, at each width, chance and length") {
    MotifSet set;
    set.background = {0.3, 0.2, 0.2, 0.3};
    for (std::size_t width = 1; width <= 24; ++width)
        set.motifs.push_back(random_motif(width, width));
    std::string dna = random_dna(30000, 5);
    dna.replace(777, 40, 40, 'N');
    dna.replace(9000, 1, "N");
    for (const double p : {1.0, 0.2, 1e-3, 1e-5}) {
        const Scanner scanner(set, p, 2);
        for (const std::size_t length : {0, 1, 15, 64, 3000, 30000}) {
            if (p == 1.0 && length > 3000) continue;
            const std::string_view part = std::string_view(dna).substr(0, length);
            for (const std::size_t starts : {length, length / 2})
                DOCTEST_CHECK(scanner.scan(part, starts) == scanner.scan_plainly(part, starts));
        }
    }
}

DOCTEST_TEST_CASE("scanner: the p-value is the share of all words that score as much") {
    const Motif motif = random_motif(6, 9);
    const Shares background{0.3, 0.2, 0.2, 0.3};
    const ScoreMatrix matrix(motif, background);
    std::map<std::int32_t, double> chances;
    for (std::size_t word = 0; word < 4096; ++word) {
        std::int32_t score = 0;
        double chance = 1;
        for (std::size_t i = 0; i < 6; ++i) {
            const std::size_t letter = word >> (2 * i) & 3U;
            score += matrix.scores()[i][letter];
            chance *= background[letter];
        }
        chances[score] += chance;
    }
    double tail = 0;
    for (auto each = chances.rbegin(); each != chances.rend(); ++each) {
        tail += each->second;
        DOCTEST_CHECK(matrix.p_value(each->first) == doctest::Approx(tail).epsilon(1e-9));
        DOCTEST_CHECK(matrix.p_value(matrix.threshold(tail * 1.000001)) ==
                      doctest::Approx(tail).epsilon(1e-9));
    }
    DOCTEST_CHECK(matrix.threshold(0) == matrix.most() + 1);
}

DOCTEST_TEST_CASE("scanner: q-values are Benjamini and Hochberg's") {
    // p of a motif of one column: 1/4 for its letter, 1 for the others.
    const ScoreMatrix matrix({.id = "a", .sites = 10, .shares = {{0.7, 0.1, 0.1, 0.1}}},
                             {0.25, 0.25, 0.25, 0.25});
    const std::int32_t least = matrix.threshold(1);
    std::vector<std::int64_t> counts(static_cast<std::size_t>(matrix.most() - least + 1));
    counts.back() = 4;
    counts.front() = 4;
    DOCTEST_CHECK(q_values(matrix, least, counts, 8).back() == doctest::Approx(0.5));
    counts.back() = 1;
    counts.front() = 7;
    DOCTEST_CHECK(q_values(matrix, least, counts, 8).back() == doctest::Approx(1));
}

DOCTEST_TEST_CASE("scanner: sites are counted by width, between other letters and up to the last start") {
    using Sites = std::map<std::size_t, std::int64_t>;
    Sites sites{{1, 0}, {3, 0}, {5, 0}, {20, 0}};
    count_sites("ACGNACGTA", 9, sites);
    DOCTEST_CHECK(sites == Sites{{1, 8}, {3, 4}, {5, 1}, {20, 0}});
    count_sites("ACGNACGTA", 6, sites);
    DOCTEST_CHECK(sites == Sites{{1, 13}, {3, 7}, {5, 2}, {20, 0}});
}

DOCTEST_TEST_CASE("scanner: hits and p-values are numpy's on a finer grid") {
    const MotifSet set = read_motifs(test_data("motifs/known.jaspar"));
    const std::string dna = fasta_letters();
    const Scanner scanner(set, 1e-4, 1);
    // Hits of a higher p-value, too: at the threshold, rounding decides.
    const Scanner wide(set, 3e-4, 1);
    std::map<std::tuple<std::uint32_t, std::string, bool>, Hit> ours;
    for (const Hit& hit : wide.scan(dna, dna.size()))
        ours[{hit.begin, set.motifs[static_cast<std::size_t>(hit.motif)].id, hit.reverse}] = hit;
    std::ifstream file(test_data("motifs/hits.tsv"));
    std::size_t found = 0, all = 0;
    std::uint32_t begin = 0;
    std::string id;
    char strand = '+';
    double score = 0, p = 0;
    while (file >> begin >> id >> strand >> score >> p) {
        const auto hit = ours.find({begin, id, strand == '-'});
        DOCTEST_REQUIRE(hit != ours.end());
        const ScoreMatrix& matrix = wide.matrices()[static_cast<std::size_t>(hit->second.motif)];
        const double own = matrix.p_value(hit->second.score);
        DOCTEST_CHECK(std::abs(hit->second.score * score_unit - score) <
                      0.5 * score_unit * static_cast<double>(matrix.width()) + 1e-4);
        DOCTEST_CHECK(own == doctest::Approx(p).epsilon(0.1));
        found += own <= 1e-4 ? 1 : 0;
        ++all;
    }
    DOCTEST_CHECK(all > found);
    DOCTEST_CHECK(found == scanner.scan(dna, dna.size()).size());
    DOCTEST_CHECK(found > 100);
}

DOCTEST_TEST_CASE("compare: p-values and strands are Tomtom's") {
    const MotifSet known = read_motifs(test_data("motifs/known.jaspar"));
    const MotifSet queries = read_motifs(test_data("motifs/queries.meme"));
    std::vector<std::vector<Similarity>> ours(queries.motifs.size());
    for (std::size_t i = 0; i < ours.size(); ++i) {
        ours[i] = compare(queries.motifs[i], known.motifs);
        DOCTEST_CHECK(ours[i].front().target == 6 * i);
        DOCTEST_CHECK(ours[i].front().reverse == (6 * i % 12 != 0));
        std::ranges::sort(ours[i], {}, &Similarity::target);
    }
    std::ifstream file(test_data("motifs/similarities.tsv"));
    std::size_t query = 0, target = 0, rows = 0, frequent = 0;
    double p = 0, squares = 0;
    int strand = 0;
    while (file >> query >> target >> p >> strand) {
        const double distance = std::log10(ours[query][target].p_value / p);
        ++rows;
        // Two ways to bin scores differ in far tails.
        DOCTEST_CHECK(std::abs(distance) < std::max(0.35, -0.05 * std::log10(p)));
        if (p < 1e-10) continue;
        squares += distance * distance;
        ++frequent;
    }
    DOCTEST_CHECK(rows == 600);
    DOCTEST_CHECK(std::sqrt(squares / static_cast<double>(frequent)) < 0.03);
}
