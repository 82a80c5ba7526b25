// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/train/merges/pair_census.hpp"

#include "support/random_rules.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <map>
#include <span>
#include <string>
#include <tuple>
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

namespace {

/// Pairs counted one by one; of a run of one symbol the first, third, … alone where they may not overlap.
std::string plain_census(const std::vector<std::string>& stretches, OverlapCounting counting,
                         std::uint64_t threshold) {
    std::map<std::tuple<Symbol, Symbol, Symbol>, std::uint64_t> counts;
    for (const std::string& stretch : stretches) {
        bool skipped = true;
        for (std::size_t i = 0; i + 1 < stretch.size(); ++i) {
            const Symbol left = symbol_of_letter(stretch[i]), right = symbol_of_letter(stretch[i + 1]);
            const bool run_goes_on = i > 0 && stretch[i - 1] == stretch[i] && left == right;
            skipped = counting == OverlapCounting::alternate && run_goes_on && !skipped;
            if (!skipped) {
                ++counts[{std::max(left, right), left, right}];
            }
        }
    }
    std::string text;
    for (const auto& [key, count] : counts) {
        if (count >= threshold) {
            text += {letter_of_symbol(std::get<1>(key)), letter_of_symbol(std::get<2>(key))};
            text += std::to_string(count) + " ";
        }
    }
    return text;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/pair_census: what counting one by one finds, on texts with runs") {
    bigbird::Rng rng(81);
    for (const std::string letters : {"A", "AC", "AAAC", "ACGTN"}) {
        const std::vector<std::string> texts = bigbird::testing::random_texts(rng, letters, 40, 5);
        for (const std::size_t symbols : {5U, 513U}) {
            for (const OverlapCounting counting : {OverlapCounting::every, OverlapCounting::alternate}) {
                for (const std::size_t members : {1U, 3U}) {
                    TokenArray array;
                    std::vector<std::size_t> begins;
                    for (const std::string& text : texts) {
                        begins.push_back(array.size());
                        array.append(text);
                    }
                    begins.push_back(array.size());
                    const std::vector<std::uint16_t> lengths(symbols, 1);
                    std::vector<MergeShard> shards;
                    for (std::size_t i = 0; i < members; ++i) {
                        const std::size_t from = begins[texts.size() * i / members],
                                          to = begins[texts.size() * (i + 1) / members];
                        shards.emplace_back(std::span(array.data() + from, to - from), lengths, counting);
                    }
                    ShardTeam team(members);
                    for (const std::uint64_t threshold : {1U, 20U}) {
                        std::string found;
                        for (const CountedPair& pair : count_pairs(shards, team, threshold, counting, lengths,
                                                                   [](Symbol, Symbol) { return true; })) {
                            found += {letter_of_symbol(pair.left), letter_of_symbol(pair.right)};
                            found += std::to_string(pair.count) + " ";
                        }
                        DOCTEST_CHECK(found == plain_census(texts, counting, threshold));
                    }
                }
            }
        }
    }
}
