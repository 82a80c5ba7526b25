// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encoder_tables.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"
#include "bigbird/tokenizer/token_spines.hpp"

#include <string>
#include <vector>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

int differences(const BpeRules& rules, const std::vector<std::string>& texts) {
    const ReachableTokens tokens(rules);
    const auto tables = make_encoder_tables(rules, tokens);
    int found = 0;
    for (const std::string& text : texts) {
        std::vector<std::uint8_t> numbers(text.size() + TokenMatcher::padding);
        std::vector<Token> letters;
        for (std::size_t i = 0; i < text.size(); ++i) {
            numbers[i] = tables->matcher().letter_number(text[i]);
            letters.push_back(rules.letters[static_cast<unsigned char>(text[i])]);
        }
        std::vector<PlacedToken> placed;
        tables->encode(numbers.data(), text.size(), placed);
        std::vector<Token> expected;
        for (const Token token : encode_by_definition(rules, letters)) {
            expected.push_back(tokens.number_of[token]);
        }
        std::vector<Token> encoded;
        std::size_t place = 0;
        for (const PlacedToken& token : placed) {
            found += token.begin != place;
            place += tokens.texts[token.token].size();
            encoded.push_back(token.token);
        }
        found += encoded != expected;
    }
    return found;
}

std::vector<std::string> random_texts(bigbird::Rng& rng, const std::string& letters) {
    std::vector<std::string> texts{""};
    for (int i = 0; i < 60; ++i) {
        std::string& text = texts.emplace_back();
        const auto unit = static_cast<std::size_t>(rng.between(1, 6));  // repeats of every phase
        while (static_cast<std::int64_t>(text.size()) < i * 3 + 1) {
            text += rng.uniform() < 0.7 && text.size() >= unit
                        ? text[text.size() - unit]
                        : letters[static_cast<std::size_t>(
                              rng.between(0, static_cast<std::int64_t>(letters.size()) - 1))];
        }
    }
    return texts;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/encoder_tables: what the definition gives, with a trained model") {
    bigbird::Rng rng(2);
    const auto model = parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const BpeRules rules = BpeRules::from_sentencepiece(model, "small");
    DOCTEST_CHECK(differences(rules, random_texts(rng, "ACGT")) == 0);
    DOCTEST_CHECK(differences(rules, random_texts(rng, "AN")) == 0);
}

// Pieces in any order, joined from any two: tokens that cannot be reached, joins that wait for each other,
// ranks that fall inside a token.
DOCTEST_TEST_CASE("tokenizer/encoder_tables: what the definition gives, with rules that no training makes") {
    bigbird::Rng rng(9);
    int lost = 0;
    for (int round = 0; round < 60; ++round) {
        BpeRules rules;
        for (const char* letter : {"A", "C", "G", "T"}) {
            rules.add(letter, static_cast<std::int32_t>(rules.size()));
        }
        const bool sentencepiece =
            round % 2 == 0;  // any split joins; else the one rule alone, as in Hugging Face's models
        while (rules.size() < 60) {
            const auto pick = [&] {
                return static_cast<Token>(rng.between(0, static_cast<std::int64_t>(rules.size()) - 1));
            };
            const Token left = pick(), right = pick();
            const std::string text = rules.texts[left] + rules.texts[right];
            if (text.size() <= 12 && !rules.find(text)) {
                const Token joined = rules.add(text, static_cast<std::int32_t>(rules.size()));
                const auto rank =
                    static_cast<std::uint32_t>(rng.between(0, 5) * 100'000 * (round % 3)) + joined;
                rules.add_join(left, right, rank, joined);
                for (std::size_t cut = 1; sentencepiece && cut < text.size(); ++cut) {
                    const auto l = rules.find(text.substr(0, cut)), r = rules.find(text.substr(cut));
                    if (l && r) {
                        rules.add_join(*l, *r, rank, joined);
                    }
                }
            }
        }
        lost += static_cast<int>(ReachableTokens(rules).lost.size());
        DOCTEST_CHECK(differences(rules, random_texts(rng, "ACGT")) == 0);
        DOCTEST_CHECK(differences(rules, random_texts(rng, "AC")) == 0);
    }
    DOCTEST_CHECK(lost > 0);
}
