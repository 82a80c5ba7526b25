// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/encoder_tables.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

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

namespace {

int differences(const BpeRules& rules, const std::vector<std::string>& texts) {
    const ReachableTokens tokens(rules);
    const auto tables = make_encoder_tables(tokens);
    int found = 0;
    for (const std::string& text : texts) {
        std::vector<TokenAt> placed;
        tables->encode(numbers_of(tables->matcher(), text).data(), text.size(), placed);
        std::vector<Token> expected;
        for (const Token token : encode_by_definition(rules, letters_of(rules, text)))
            expected.push_back(tokens.number_of[token]);
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
    const BpeRules rules = small_rules();
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

DOCTEST_TEST_CASE("tokenizer/encoder_tables: of equal ranks the left merge comes first, on either side") {
    BpeRules rules;
    const Token a = rules.add("A", 0), c = rules.add("C", 1), ca = rules.add("CA", 2),
                ac = rules.add("AC", 3);
    rules.add_merge(c, a, 5, ca);
    rules.add_merge(a, c, 5, ac);
    bigbird::Rng rng(5);
    DOCTEST_CHECK(differences(rules, random_texts(rng, "AC")) == 0);
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

DOCTEST_TEST_CASE("tokenizer/token_matcher: the longest token, as comparing with each finds it") {
    bigbird::Rng rng(1);
    const std::string letters = "NTGCA";
    std::vector<std::string> tokens{"N", "T", "G", "C", "A"};
    const auto random_text = [&](std::int64_t length) {
        std::string text;
        while (static_cast<std::int64_t>(text.size()) < length)
            text += rng.uniform() < 0.5 && !text.empty()
                        ? text.back()
                        : letters[static_cast<std::size_t>(rng.between(0, 4))];
        return text;
    };
    for (int i = 0; i < 2000; ++i)
        tokens.push_back(random_text(rng.between(2, 20)));
    std::sort(tokens.begin(), tokens.end());
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    const TokenMatcher matcher(tokens);
    DOCTEST_CHECK(matcher.letter_number('x') == TokenMatcher::unknown_letter);
    DOCTEST_CHECK(matcher.letter_number('T') < 4);
    const std::string text = random_text(3000);
    const std::vector<std::uint8_t> numbers = numbers_of(matcher, text);
    int wrong = 0;
    for (std::size_t position = 0; position < text.size(); ++position) {
        const std::size_t size = std::min<std::size_t>(text.size() - position, position % 13 + 1);
        std::size_t best = 0;
        for (std::size_t token = 0; token < tokens.size(); ++token)
            if (tokens[token].size() <= size &&
                text.compare(position, tokens[token].size(), tokens[token]) == 0 &&
                (best == 0 || tokens[token].size() > tokens[best - 1].size()))
                best = token + 1;
        wrong += matcher.longest(numbers.data() + position, size) != best - 1;
    }
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/token_matcher: more nodes than 16 bits count") {
    bigbird::Rng rng(61);
    std::vector<std::string> tokens{"A", "C", "G", "T"};
    std::set<std::string> known(tokens.begin(), tokens.end());
    while (tokens.size() < 9000) {
        std::string text;
        while (text.size() < 20)
            text += "ACGT"[rng.between(0, 3)];
        if (known.insert(text).second) tokens.push_back(text);
    }
    const TokenMatcher matcher(tokens);
    const auto longest = [&](const std::string& text) {
        return matcher.longest(numbers_of(matcher, text).data(), text.size());
    };
    int wrong = 0;
    for (std::size_t token = 4; token < tokens.size(); token += 7) {
        wrong += longest(tokens[token] + "A") != token;
        const std::string all_but_one = tokens[token].substr(0, 19);
        const Token found = longest(all_but_one);
        wrong += tokens[found] != all_but_one.substr(0, 1);
    }
    DOCTEST_CHECK(wrong == 0);
}
