// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/pair_census.hpp"

#include "support/testing.hpp"

#include <string>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

std::string census(const std::string& dna, OverlapCounting counting, std::uint64_t threshold,
                   std::size_t symbols) {
    TokenArray array;
    array.append(dna);
    array.append(dna);
    std::vector<std::uint16_t> lengths(symbols, 1);
    ShardTeam team(2);
    const std::size_t half = dna.size() + 1;
    const std::vector<MergeShard> shards{{std::span(array.data() + 1, half), lengths, counting},
                                         {std::span(array.data() + 1 + half, half), lengths, counting}};
    std::string text;
    const auto pairs = count_pairs(shards, team, threshold, counting, lengths,
                                   [](Symbol left, Symbol) { return left != symbol_of_letter('G'); });
    for (const CountedPair& pair : pairs) {
        text += {letter_of_symbol(pair.left), letter_of_symbol(pair.right)};
        text += std::to_string(pair.count) + " ";
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/pair_census: counts over shards, by table and by hash") {
    for (const std::size_t symbols : {5U, 2000U}) {
        DOCTEST_CHECK(census("AAAACCGC", OverlapCounting::every, 1, symbols) == "AA6 AC2 CC2 CG2 ");
        DOCTEST_CHECK(census("AAAACCGC", OverlapCounting::alternate, 1, symbols) == "AA4 AC2 CC2 CG2 ");
        DOCTEST_CHECK(census("AAAAACGAAA", OverlapCounting::alternate, 1, symbols) == "AA6 AC2 CG2 ");
        DOCTEST_CHECK(census("AAAACCGC", OverlapCounting::every, 3, symbols) == "AA6 ");
        DOCTEST_CHECK(census("A", OverlapCounting::every, 1, symbols) == "");
    }
}
