// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/bpe_rules.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <map>
#include <set>
#include <string>
#include <utility>

using namespace bigbird;
using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("bpe_rules: tokens are found by their text alone") {
    BpeRules rules;
    const Token a = rules.add("A", 5), ac = rules.add("AC", 9);
    DOCTEST_CHECK(rules.find("A") == a);
    DOCTEST_CHECK(rules.find("AC") == ac);
    DOCTEST_CHECK_FALSE(rules.find("C"));
    DOCTEST_CHECK_FALSE(rules.find(""));
    DOCTEST_CHECK(rules.letters['A'] == a);
    DOCTEST_CHECK(rules.letters['C'] == no_token);
    DOCTEST_CHECK(rules.ids[ac] == 9);
    DOCTEST_CHECK_THROWS(rules.add("AC", 10));
    DOCTEST_CHECK_THROWS(rules.add("", 10));
}

DOCTEST_TEST_CASE("bpe_rules: an earlier merge of the same two stays") {
    BpeRules rules;
    const Token a = rules.add("A", 0), c = rules.add("C", 1), ac = rules.add("AC", 2),
                ca = rules.add("CA", 3);
    rules.add_merge(a, c, 7, ac);
    rules.add_merge(a, c, 3, ca);
    DOCTEST_CHECK(rules.merge(a, c).rank == 7);
    DOCTEST_CHECK(rules.merge(a, c).merged == ac);
    DOCTEST_CHECK(rules.merge(c, a).rank == never);
    DOCTEST_CHECK(rules.merges() == 1);
}

DOCTEST_TEST_CASE("bpe_rules: thousands of tokens and merges, as a map holds them") {
    Rng rng(4);
    BpeRules rules;
    std::map<std::pair<Token, Token>, std::uint32_t> wanted;
    for (int i = 0; i < 3000; ++i)
        rules.add(std::to_string(i) + "x", i);
    for (std::uint32_t i = 0; i < 5000; ++i) {
        const auto left = static_cast<Token>(rng.between(0, 60)),
                   right = static_cast<Token>(rng.between(0, 60));
        rules.add_merge(left, right, i, left);
        wanted.try_emplace({left, right}, i);
    }
    DOCTEST_CHECK(rules.merges() == wanted.size());
    for (Token left = 0; left <= 60; ++left) {
        for (Token right = 0; right <= 60; ++right) {
            const auto found = wanted.find({left, right});
            DOCTEST_CHECK(rules.merge(left, right).rank == (found == wanted.end() ? never : found->second));
        }
    }
    std::size_t visited = 0;
    rules.for_each_merge([&](Token left, Token right, std::uint32_t rank) {
        ++visited;
        DOCTEST_CHECK(wanted.at({left, right}) == rank);
    });
    DOCTEST_CHECK(visited == wanted.size());
    DOCTEST_CHECK(rules.find("2999x") == Token{2999});
}
