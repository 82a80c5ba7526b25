// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include "support/random_rules.hpp"
#include "support/testing.hpp"

#include <map>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace bigbird;
using namespace bigbird::testing;
using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("tokenizer/bpe_rules: finds what maps find, among thousands of tokens") {
    bigbird::Rng rng(51);
    const BpeRules rules = random_rules(rng, 3000, true, 5);
    DOCTEST_REQUIRE(rules.size() == 3000);
    std::map<std::string, Token> tokens;
    for (Token token = 0; token < rules.size(); ++token) {
        tokens.emplace(rules.texts[token], token);
    }
    DOCTEST_CHECK(tokens.size() == rules.size());
    int wrong = 0;
    for (const std::string& text : random_texts(rng, "ACGT", 2000, 0)) {
        const std::string some = text.substr(0, 1) + rules.texts[random_number(rng, 3000)];
        const auto known = tokens.find(some);
        const auto found = rules.find(some);
        wrong += found.has_value() != (known != tokens.end()) || (found && *found != known->second);
    }
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/bpe_rules: keeps thousands of merges as a map does, the first of two alike") {
    bigbird::Rng rng(52);
    BpeRules rules;
    std::map<std::pair<Token, Token>, std::uint32_t> merges;
    for (std::uint32_t rank = 0; rank < 8000; ++rank) {  // few left tokens, so that neighbours share them
        const auto left = static_cast<Token>(random_number(rng, 4)),
                   right = static_cast<Token>(random_number(rng, rank % 2 == 0 ? 3000 : 1'000'000));
        rules.add_merge(left, right, rank, left);
        merges.emplace(std::pair(left, right), rank);
    }
    DOCTEST_CHECK(rules.merges() == merges.size());
    int wrong = 0;
    for (Token left = 0; left < 5; ++left) {
        for (Token right = 0; right < 50'000; ++right) {
            const auto known = merges.find({left, right});
            wrong += rules.merge(left, right).rank != (known == merges.end() ? never : known->second);
        }
    }
    DOCTEST_CHECK(wrong == 0);
    std::size_t visited = 0;
    rules.for_each_merge([&](Token left, Token right, std::uint32_t rank) {
        ++visited;
        wrong += merges[{left, right}] != rank;
    });
    DOCTEST_CHECK(visited == merges.size());
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/bpe_rules: a token's text is new, and the first rule for two tokens stays") {
    BpeRules rules;
    const Token a = rules.add("A", 7), c = rules.add("C", 8), ac = rules.add("AC", 9),
                ca = rules.add("CA", 10);
    DOCTEST_CHECK_THROWS_AS(rules.add("A", 11), std::logic_error);
    DOCTEST_CHECK_THROWS_AS(rules.add("", 11), std::logic_error);
    DOCTEST_CHECK(rules.size() == 4);
    rules.add_merge(a, c, 5, ac);
    rules.add_merge(a, c, 1, ca);
    DOCTEST_CHECK(rules.merges() == 1);
    DOCTEST_CHECK(rules.merge(a, c).rank == 5);
    DOCTEST_CHECK(rules.merge(a, c).merged == ac);
    DOCTEST_CHECK(rules.merge(c, a).rank == never);
    DOCTEST_CHECK(rules.merge(a, a).merged == no_token);
    DOCTEST_CHECK(rules.letters['C'] == c);
    DOCTEST_CHECK(rules.letters[0] == no_token);
    DOCTEST_CHECK(rules.letters[255] == no_token);
    DOCTEST_CHECK(rules.ids == std::vector<std::int32_t>{7, 8, 9, 10});
}
