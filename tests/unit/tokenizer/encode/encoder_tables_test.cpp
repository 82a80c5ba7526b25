// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/encoder_tables.hpp"

#include "support/bpe_definition.hpp"
#include "support/random_rules.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/tokenizer/formats/sentencepiece_rules.hpp"

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
