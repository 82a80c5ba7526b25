// SPDX-License-Identifier: Apache-2.0
#include "bigbird/examples/build/sequence_splits.hpp"

#include "support/captured_log.hpp"
#include "support/testing.hpp"

#include "bigbird/core/error.hpp"
#include "bigbird/core/rng.hpp"
#include "bigbird/genome/reference/sequence.hpp"

#include <algorithm>
#include <map>
#include <set>

using namespace bigbird;
using namespace bigbird::examples;

namespace {

std::string random_dna(Rng& rng, int bases) {
    std::string dna;
    for (int i = 0; i < bases; ++i)
        dna += "ACGT"[rng.between(0, 3)];
    return dna;
}

/// Each base another one with this probability.
std::string mutated(std::string dna, double rate, Rng& rng) {
    for (char& letter : dna)
        if (rng.uniform() < rate) letter = "ACGT"[(std::string_view("ACGT").find(letter) + 1) % 4];
    return dna;
}

std::vector<SequenceExample> records_of(const std::vector<std::string>& sequences) {
    std::vector<SequenceExample> records(sequences.size());
    for (std::size_t i = 0; i < records.size(); ++i)
        records[i].sequence = sequences[i];
    return records;
}

/// What is logged when similar records get one split.
std::string similar(const std::vector<std::string>& sequences) {
    const testing::CapturedLog log;
    std::vector<SequenceExample> records = records_of(sequences);
    draw_splits(records, {.similarity = true}, 1);
    return log.text();
}

std::array<int, 3> sizes(const std::vector<SequenceExample>& records, std::uint32_t label) {
    std::array<int, 3> sizes{};
    for (const SequenceExample& record : records)
        if (record.labels.empty() || record.labels.front() == label)
            ++sizes[static_cast<std::size_t>(record.split)];
    return sizes;
}

}  // namespace

DOCTEST_TEST_CASE("sequence_splits: rules are read, and others refused with what would do") {
    DOCTEST_CHECK(parse_split_rule("column:fold:1").column == "fold:1");
    DOCTEST_CHECK(parse_split_rule("fraction:0.7,0.1,0.2").shares == std::array<double, 3>{0.7, 0.1, 0.2});
    DOCTEST_CHECK(!parse_split_rule("fraction").similarity);
    DOCTEST_CHECK(parse_split_rule("similarity:0.5,0,0.5").similarity);
    const auto message = [](const char* text) {
        return testing::message_of<ConfigError>([&] { parse_split_rule(text); });
    };
    DOCTEST_CHECK(message("random") ==
                  "--split-by is column:NAME, fraction:0.8,0.1,0.1 or similarity, not 'random'");
    DOCTEST_CHECK(message("column:") ==
                  "--split-by is column:NAME, fraction:0.8,0.1,0.1 or similarity, not 'column:'");
    for (const char* shares : {"0.8,0.1", "0.8,0.1,0.2", "0,0.5,0.5", "1.1,-0.1,0", "a,b,c"}) {
        DOCTEST_CHECK(message((std::string("fraction:") + shares).c_str()) ==
                      "--split-by takes the shares of training, validation and test, which add up to 1, as "
                      "0.8,0.1,0.1, not '" +
                          std::string(shares) + "'");
    }
}

DOCTEST_TEST_CASE("sequence_splits: fractions keep each class in proportion, by the seed") {
    std::vector<SequenceExample> records(1000);
    for (std::size_t i = 0; i < records.size(); ++i)
        records[i].labels = {i % 10 == 0 ? 1U : 0U};
    draw_splits(records, {.shares = {0.8, 0.1, 0.1}}, 1);
    DOCTEST_CHECK(sizes(records, 0) == std::array<int, 3>{720, 90, 90});
    DOCTEST_CHECK(sizes(records, 1) == std::array<int, 3>{80, 10, 10});
    std::vector<SequenceExample> again = records, other = records;
    draw_splits(again, {.shares = {0.8, 0.1, 0.1}}, 1);
    draw_splits(other, {.shares = {0.8, 0.1, 0.1}}, 2);
    int moved = 0;
    for (std::size_t i = 0; i < records.size(); ++i) {
        DOCTEST_REQUIRE(again[i].split == records[i].split);
        moved += other[i].split != records[i].split ? 1 : 0;
    }
    DOCTEST_CHECK(moved > 200);
    draw_splits(records, {.shares = {0.5, 0, 0.5}}, 1);
    DOCTEST_CHECK(sizes(records, 0) == std::array<int, 3>{450, 0, 450});
}

DOCTEST_TEST_CASE("sequence_splits: records that belong together get one split") {
    std::vector<SequenceExample> records(1000);
    for (std::size_t i = 0; i < records.size(); ++i)
        records[i].group = std::to_string(i % 97);
    draw_splits(records, {}, 1);
    std::map<std::string, std::set<Split>> splits;
    for (const SequenceExample& record : records)
        splits[record.group].insert(record.split);
    for (const auto& [group, of_it] : splits)
        DOCTEST_CHECK(of_it.size() == 1);
    const auto found = sizes(records, 0);
    DOCTEST_CHECK(found[0] > 780);
    DOCTEST_CHECK(found[0] < 820);
}

DOCTEST_TEST_CASE("sequence_splits: mutated, cut and reversed copies are similar, random sequences are not") {
    Rng rng(3);
    std::vector<std::string> sequences;
    constexpr std::size_t families = 30;
    for (std::size_t i = 0; i < families; ++i) {
        const std::string parent = random_dna(rng, 200);
        sequences.push_back(parent);
        sequences.push_back(mutated(parent, 0.05, rng));
        sequences.push_back(genome::reverse_complement(parent));
        sequences.push_back(parent.substr(20) + random_dna(rng, 40));
        sequences.push_back(parent.substr(0, 60) + "N" + random_dna(rng, 150));
    }
    sequences.emplace_back("ACGTACGTACGT");  // no 16-mer
    sequences.emplace_back("ACGTACGTACGT");
    DOCTEST_CHECK(similar(sequences) ==
                  "info: 152 records in 32 sets that stay together, the largest of 5\n");
}

DOCTEST_TEST_CASE("sequence_splits: of a k-mer that many records have, all are joined") {
    Rng rng(4);
    const std::string parent = random_dna(rng, 100);
    DOCTEST_CHECK(similar(std::vector<std::string>(100, parent)) ==
                  "info: 100 records in 1 set that stay together, the largest of 100\n");
}

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

std::string random_dna_with_n(Rng& rng, std::size_t bases) {
    std::string dna;
    while (dna.size() < bases)
        dna += "ACGTACGTACGTACGTACGTN"[rng.between(0, 20)];
    return dna;
}

}  // namespace

DOCTEST_TEST_CASE("sequence_overlap: k-mers are those of the text, of either strand") {
    Rng rng(5);
    std::vector<SequenceExample> records;
    const std::string text = random_dna_with_n(rng, 2000);
    std::set<std::string> in_train;
    std::int64_t share = 0;
    for (int i = 0; i < 200; ++i) {
        const std::string part = text.substr(static_cast<std::size_t>(rng.between(0, 1900)), 50);
        records.push_back({.split = i < 20 ? Split::train : Split::test,
                           .sequence = i % 2 == 0 ? part : genome::reverse_complement(part)});
        const std::set<std::string> kmers = kmers_by_text(records.back().sequence, 31);
        if (i < 20)
            in_train.insert(kmers.begin(), kmers.end());
        else
            share += std::ranges::any_of(kmers, [&](const std::string& k) { return in_train.contains(k); });
    }
    DOCTEST_CHECK(share > 0);
    DOCTEST_CHECK(overlap_with_train(records, Split::test).share_31mer == share);
}

DOCTEST_TEST_CASE("sequence_overlap: rows in train and rows that share 31 bases are counted") {
    Rng rng(6);
    const std::string a(random_dna_with_n(rng, 200)), core = "ACGGTCATTGCAGGTACCATTGACCGATTAC";  // 31 bases
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
