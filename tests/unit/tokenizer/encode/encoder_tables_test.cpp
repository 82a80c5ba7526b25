// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/encoder_tables.hpp"

#include "support/bpe_definition.hpp"
#include "support/random_rules.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/tokenizer/formats/sentencepiece_rules.hpp"

#include <algorithm>
#include <string>
#include <vector>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

int differences(const BpeRules& rules, const std::vector<std::string>& texts) {
    const ReachableTokens tokens(rules);
    const auto tables = make_encoder_tables(tokens);
    int found = 0;
    for (const std::string& text : texts) {
        std::vector<std::uint8_t> numbers(text.size() + TokenMatcher::padding);
        std::vector<Token> letters;
        for (std::size_t i = 0; i < text.size(); ++i) {
            numbers[i] = tables->matcher().letter_number(text[i]);
            letters.push_back(rules.letters[static_cast<unsigned char>(text[i])]);
        }
        std::vector<TokenAt> placed;
        tables->encode(numbers.data(), text.size(), placed);
        std::vector<Token> expected;
        for (const Token token : encode_by_definition(rules, letters)) {
            expected.push_back(tokens.number_of[token]);
        }
        std::vector<Token> encoded;
        std::size_t position = 0;
        for (const TokenAt& token : placed) {
            found += token.begin != position;
            position += tokens.texts[token.token].size();
            encoded.push_back(token.token);
        }
        found += encoded != expected;
    }
    return found;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/encoder_tables: what the definition gives, with a trained model") {
    bigbird::Rng rng(2);
    const auto model = parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const BpeRules rules = bpe_rules_of(model, "small");
    DOCTEST_CHECK(differences(rules, random_texts(rng, "ACGT")) == 0);
    DOCTEST_CHECK(differences(rules, random_texts(rng, "AN")) == 0);
}

DOCTEST_TEST_CASE("tokenizer/encoder_tables: what the definition gives, with rules that no training makes") {
    bigbird::Rng rng(9);
    int lost = 0;
    for (int round = 0; round < 60; ++round) {
        const BpeRules rules =
            random_rules(rng, 60, round % 2 == 0, static_cast<std::uint32_t>(round % 3) * 100'000);
        lost += static_cast<int>(ReachableTokens(rules).lost.size());
        DOCTEST_CHECK(differences(rules, random_texts(rng, "ACGT")) == 0);
        DOCTEST_CHECK(differences(rules, random_texts(rng, "AC")) == 0);
    }
    DOCTEST_CHECK(lost > 0);
}

DOCTEST_TEST_CASE("tokenizer/encoder_tables: reachable tokens are those that their own letters give") {
    bigbird::Rng rng(31);
    for (int round = 0; round < 8; ++round) {
        BpeRules rules = random_rules(rng, 150, round % 2 == 0, round % 3 == 0 ? 0 : 9);
        std::reverse(rules.ids.begin(), rules.ids.end());  // in another order than the tokens
        const ReachableTokens tokens(rules);
        std::vector<std::int32_t> lost;
        for (Token token = 0; token < rules.size(); ++token) {
            const bool reachable =
                encode_by_definition(rules, letters_of(rules, rules.texts[token])) == std::vector{token};
            DOCTEST_CHECK((tokens.number_of[token] != no_token) == reachable);
            if (reachable) {
                DOCTEST_CHECK(tokens.texts[tokens.number_of[token]] == rules.texts[token]);
                DOCTEST_CHECK(tokens.ids[tokens.number_of[token]] == rules.ids[token]);
            } else {
                lost.push_back(rules.ids[token]);
            }
        }
        std::sort(lost.begin(), lost.end());
        DOCTEST_CHECK(tokens.lost == lost);
        DOCTEST_CHECK(tokens.texts.size() + lost.size() == rules.size());
    }
}

DOCTEST_TEST_CASE(
    "tokenizer/encoder_tables: tokens come by length, each with the longest one it begins with") {
    bigbird::Rng rng(32);
    const ReachableTokens tokens(random_rules(rng, 300, true, 0));
    std::size_t longest = 0;
    for (Token token = 0; token < tokens.texts.size(); ++token) {
        const std::string& text = tokens.texts[token];
        DOCTEST_CHECK((token == 0 || tokens.texts[token - 1].size() <= text.size()));
        longest = std::max(longest, text.size());
        Token expected = no_token;
        for (Token other = 0; other < tokens.texts.size(); ++other) {
            const std::string& prefix = tokens.texts[other];
            if (prefix.size() < text.size() && text.starts_with(prefix) &&
                (expected == no_token || prefix.size() > tokens.texts[expected].size())) {
                expected = other;
            }
        }
        DOCTEST_CHECK(tokens.shorter[token] == expected);
        const ReachableTokens::Edges& edges = tokens.edges[token];
        if (text.size() > 1) {
            DOCTEST_CHECK(tokens.texts[edges.left] + tokens.texts[edges.right] == text);
            DOCTEST_CHECK(edges.latest >= edges.rank);
        } else {
            DOCTEST_CHECK(edges.left == no_token);
        }
    }
    DOCTEST_CHECK(tokens.longest == longest);
}
