// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/base_encoder.hpp"

#include "support/random_rules.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/tokenizer/formats/sentencepiece_rules.hpp"

#include <string>
#include <vector>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

// Texts whose tokens are not those of the slower twin; 1,000 where there is no fast one.
int differences(const BpeRules& rules, std::size_t prefix_tokens, const std::vector<std::string>& texts) {
    const ReachableTokens tokens(rules);
    const auto general = make_encoder_tables(tokens);
    auto bases = BaseTokens::of(tokens);
    if (!bases) {
        return 1000;
    }
    const BaseEncoder encoder(std::move(*bases), *general, prefix_tokens);
    int found = 0;
    for (const std::string& text : texts) {
        std::vector<std::uint8_t> letters(text.size() + TokenMatcher::padding);
        for (std::size_t i = 0; i < text.size(); ++i) {
            letters[i] = general->matcher().letter_number(text[i]);
        }
        std::vector<TokenAt> fast{{7, 7}}, slow{{7, 7}};  // both append
        encoder.encode(letters.data(), text.size(), fast);
        general->encode(letters.data(), text.size(), slow);
        found += fast != slow;
    }
    return found;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/base_encoder: its slower twin's tokens, with a trained model") {
    bigbird::Rng rng(21);
    const auto model = parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const BpeRules rules = bpe_rules_of(model, "small");
    std::vector<std::string> texts = random_texts(rng, "ACGT", 100, 11);
    for (const std::string letters : {"A", "AC", "ACGTN", "ACGTACGTACGTACGTN"}) {
        const auto more = random_texts(rng, letters, 60, 11);
        texts.insert(texts.end(), more.begin(), more.end());
    }
    for (const std::string unit : {"T", "AT", "CAG", "TTAGGG"}) {
        std::string repeated = "GATTACA";
        while (repeated.size() < 3000) {
            repeated += unit;
        }
        texts.push_back(repeated + "GATTACA" + repeated);
    }
    const std::string real = read_file(test_data("tokenizer/sentences.txt")).substr(0, 30'000);
    std::string dna;
    for (const char letter : real) {
        dna += letter == '\n' ? "" : std::string(1, letter);
    }
    texts.push_back(dna);
    for (const std::size_t prefix_tokens : {4UL, 30UL, 150UL, 512UL}) {
        DOCTEST_CHECK(differences(rules, prefix_tokens, texts) == 0);
    }
}

DOCTEST_TEST_CASE("tokenizer/base_encoder: its slower twin's tokens, with rules that no training makes") {
    bigbird::Rng rng(22);
    int compared = 0;
    for (int round = 0; round < 80; ++round) {
        // Mixed tokens in every fourth round.
        const std::string letters = round % 4 == 3 ? "ACGTN" : "ACGT";
        const BpeRules rules = random_rules(rng, 100, round % 2 == 0, round % 3 == 0 ? 7 : 0, letters);
        if (!BaseTokens::of(ReachableTokens(rules))) {
            continue;
        }
        ++compared;
        for (const std::size_t prefix_tokens : {10UL, 50UL, 512UL}) {
            DOCTEST_CHECK(differences(rules, prefix_tokens, random_texts(rng, letters, 60, 7)) == 0);
            DOCTEST_CHECK(differences(rules, prefix_tokens, random_texts(rng, "AC", 60, 7)) == 0);
        }
    }
    DOCTEST_CHECK(compared > 40);
}
