// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sequence_overlap.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/examples/build/kmers.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <set>

using namespace bigbird;
using namespace bigbird::examples;

namespace {

/// The slow twin: strings of both strands.
std::set<std::string> kmers_by_text(const std::string& dna, std::size_t k) {
    std::set<std::string> kmers;
    for (std::size_t i = 0; i + k <= dna.size(); ++i) {
        const std::string kmer = dna.substr(i, k);
        if (kmer.find('N') == std::string::npos)
            kmers.insert(std::min(kmer, genome::reverse_complement(kmer)));
    }
    return kmers;
}

std::string random_dna(Rng& rng, std::size_t bases) {
    std::string dna;
    while (dna.size() < bases)
        dna += "ACGTACGTACGTACGTACGTN"[rng.between(0, 20)];
    return dna;
}

}  // namespace

DOCTEST_TEST_CASE("sequence_overlap: k-mers are those of the text, one number per k-mer of either strand") {
    Rng rng(5);
    for (const int k : {1, 2, 5, 16, 31}) {
        const std::string dna = random_dna(rng, 2000) + std::string(40, 'A');
        std::set<std::uint64_t> found, reversed;
        for_each_kmer(
            dna, k, [&](std::uint64_t kmer) { found.insert(kmer); });
        for_each_kmer(genome::reverse_complement(dna), k, [&](std::uint64_t kmer) { reversed.insert(kmer); });
        DOCTEST_CHECK(found.size() == kmers_by_text(dna, static_cast<std::size_t>(k)).size());
        DOCTEST_CHECK(found == reversed);
    }
}

DOCTEST_TEST_CASE("sequence_overlap: rows in train and rows that share 31 bases are counted") {
    Rng rng(6);
    const std::string a(random_dna(rng, 200)), core = "ACGGTCATTGCAGGTACCATTGACCGATTAC";  // 31 bases
    std::vector<SequenceExample> records;
    const auto add = [&](Split split, const std::string& sequence) {
        records.push_back({std::to_string(records.size()), ".", split, sequence, {}, {}});
    };
    add(Split::train, a);
    add(Split::train, "TTT" + core + "GGG");
    add(Split::train, "ACG");
    add(Split::test, genome::reverse_complement(a));
    add(Split::test, "ACG");  // too short for a 31-mer
    add(Split::test, "CCC" + genome::reverse_complement(core));
    add(Split::test, "CCC" + core.substr(0, 30) + "A");
    add(Split::validation, core);
    const Overlap test = overlap_with_train(records, Split::test);
    DOCTEST_CHECK(test.rows == 4);
    DOCTEST_CHECK(test.in_train == 2);
    DOCTEST_CHECK(test.share_31mer == (kmers_by_text(a, 31).empty() ? 1 : 2));
    const Overlap validation = overlap_with_train(records, Split::validation);
    DOCTEST_CHECK(validation.rows == 1);
    DOCTEST_CHECK(validation.in_train == 0);
    DOCTEST_CHECK(validation.share_31mer == 1);
}

DOCTEST_TEST_CASE("sequence_overlap: sequences of several labels are counted once each") {
    const std::vector<SequenceExample> records{
        {"0", ".", Split::train, "AC", {0}, {}}, {"1", ".", Split::train, "GT", {1}, {}},
        {"2", ".", Split::test, "AC", {1}, {}},  {"3", ".", Split::train, "AC", {0}, {}},
        {"4", ".", Split::train, "GT", {1}, {}}, {"5", ".", Split::train, "A", {}, {1}},
        {"6", ".", Split::train, "A", {}, {2}},
    };
    const Contradictions found = contradictions_in(records);
    DOCTEST_CHECK(found.sequences == 2);
    DOCTEST_CHECK(found.records == 5);
    DOCTEST_CHECK(found.first == 0);
    DOCTEST_CHECK(found.other == 2);
}
