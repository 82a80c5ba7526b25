// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/base_tokens.hpp"

#include "support/random_rules.hpp"
#include "support/testing.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird::tokenizer;

namespace {

struct Merge {
    const char *left, *right;
    std::uint32_t rank;
};

BpeRules rules_of(const std::string& letters, const std::vector<Merge>& merges) {
    BpeRules rules;
    for (const char letter : letters) {
        rules.add(std::string(1, letter), static_cast<std::int32_t>(rules.size()));
    }
    for (const Merge& merge : merges) {
        const std::string text = std::string(merge.left) + merge.right;
        const Token merged =
            rules.find(text) ? *rules.find(text) : rules.add(text, static_cast<std::int32_t>(rules.size()));
        rules.add_merge(*rules.find(merge.left), *rules.find(merge.right), merge.rank, merged);
    }
    return rules;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/base_tokens: letters, then tokens in the order of their merges") {
    // ACT comes of AC + T alone: CT is merged later than AC.
    const ReachableTokens tokens(
        rules_of("TNGCA", {{"C", "T", 9}, {"N", "N", 1}, {"A", "C", 2}, {"AC", "T", 5}, {"A", "CT", 5}}));
    const auto bases = BaseTokens::of(tokens);
    DOCTEST_REQUIRE(bases.has_value());
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < bases->size(); ++i) {
        texts.push_back(tokens.texts[(*bases)[i].number]);
        DOCTEST_CHECK((*bases)[i].length == texts.back().size());
    }
    DOCTEST_CHECK(texts == std::vector<std::string>{"A", "C", "G", "T", "AC", "ACT", "CT"});
    DOCTEST_CHECK(bases->merged(0, 1) == 4);
    DOCTEST_CHECK(bases->merged(4, 3) == 5);
    DOCTEST_CHECK(bases->merged(1, 3) == 6);
    DOCTEST_CHECK(bases->merged(0, 6) == BaseTokens::none);
    DOCTEST_CHECK(bases->merged(1, 0) == BaseTokens::none);
    DOCTEST_CHECK(bases->ordered() == 7);
    DOCTEST_CHECK(!bases->mixed());
}

DOCTEST_TEST_CASE(
    "tokenizer/base_tokens: tokens whose merges do not rise in rank, and tokens of other letters") {
    const auto late =
        BaseTokens::of(ReachableTokens(rules_of("ACGT", {{"A", "C", 7}, {"AC", "T", 5}, {"G", "G", 6}})));
    DOCTEST_REQUIRE(late.has_value());
    DOCTEST_CHECK(late->ordered() == 4);
    DOCTEST_CHECK(late->merged(6, 3) == 4);
    const auto mixed = BaseTokens::of(ReachableTokens(rules_of("ACGTN", {{"A", "N", 7}})));
    DOCTEST_REQUIRE(mixed.has_value());
    DOCTEST_CHECK(mixed->mixed());
}

DOCTEST_TEST_CASE(
    "tokenizer/base_tokens: none where a letter is missing, ranks are equal or a token is long") {
    DOCTEST_CHECK(!BaseTokens::of(ReachableTokens(rules_of("ACG", {{"A", "C", 7}}))));
    DOCTEST_CHECK(!BaseTokens::of(ReachableTokens(rules_of("ACGT", {{"A", "C", 7}, {"G", "G", 7}}))));
    std::vector<Merge> merges;
    std::vector<std::string> runs{"A"};
    while (runs.back().size() < 256) {
        runs.push_back(runs.back() + runs.back());
    }
    for (std::size_t i = 0; i + 1 < runs.size(); ++i) {
        merges.push_back({runs[i].c_str(), runs[i].c_str(), static_cast<std::uint32_t>(i)});
    }
    DOCTEST_CHECK(!BaseTokens::of(ReachableTokens(rules_of("ACGT", merges))));
    merges.pop_back();
    DOCTEST_CHECK(BaseTokens::of(ReachableTokens(rules_of("ACGT", merges))).has_value());
}

DOCTEST_TEST_CASE("tokenizer/base_tokens: finds each pair that makes a token, and no other") {
    bigbird::Rng rng(71);
    int compared = 0;
    for (int round = 0; round < 6; ++round) {
        const ReachableTokens tokens(bigbird::testing::random_rules(rng, 300, round % 2 == 0, 0));
        const auto bases = BaseTokens::of(tokens);
        if (!bases) {
            continue;
        }
        ++compared;
        std::map<std::pair<BaseTokens::Number, BaseTokens::Number>, BaseTokens::Number> pairs;
        std::uint32_t last_rank = 0;
        for (std::size_t number = BaseTokens::letters; number < bases->size(); ++number) {
            const BaseTokens::Token& token = (*bases)[number];
            DOCTEST_CHECK(tokens.texts[(*bases)[token.left].number] +
                              tokens.texts[(*bases)[token.right].number] ==
                          tokens.texts[token.number]);
            DOCTEST_CHECK(tokens.edges[token.number].rank >= last_rank);
            last_rank = tokens.edges[token.number].rank;
            pairs[{token.left, token.right}] = static_cast<BaseTokens::Number>(number);
        }
        int wrong = 0;
        for (std::size_t left = 0; left < bases->size(); ++left) {
            for (std::size_t right = 0; right < bases->size(); ++right) {
                const std::pair pair(static_cast<BaseTokens::Number>(left),
                                     static_cast<BaseTokens::Number>(right));
                const auto known = pairs.find(pair);
                wrong += bases->merged(pair.first, pair.second) !=
                         (known == pairs.end() ? BaseTokens::none : known->second);
            }
        }
        DOCTEST_CHECK(wrong == 0);
    }
    DOCTEST_CHECK(compared > 2);
}
