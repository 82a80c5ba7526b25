// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/base_encoder.hpp"

#include "support/random_rules.hpp"
#include "support/temp_dir.hpp"
#include "support/testing.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_rules.hpp"

#include <algorithm>
#include <atomic>
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

DOCTEST_TEST_CASE("tokenizer/base_encoder: its slower twin's tokens where stretches of bases begin and end") {
    const auto model = parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const BpeRules rules = bpe_rules_of(model, "small");
    std::string dna;
    for (const char letter : read_file(test_data("tokenizer/sentences.txt")).substr(0, 20'000)) {
        dna += letter == '\n' ? "" : std::string(1, letter);
    }
    std::vector<std::string> texts;
    // Stretches shorter than 64 letters go another way; packed letters come by four and by eight.
    for (std::size_t size = 56; size <= 73; ++size) {
        texts.push_back(dna.substr(size * 31, size));
        texts.push_back(dna.substr(size * 37, size) + "N" + dna.substr(size * 41, size));
        texts.push_back("N" + dna.substr(size * 43, size) + "NN" + dna.substr(size * 47, 500 + size) + "N");
    }
    for (std::size_t at = 0; at < 24; ++at) {  // one N, at any place of the packed bytes
        std::string text = dna.substr(3000, 700);
        text[300 + at] = 'N';
        texts.push_back(text);
    }
    texts.push_back(std::string(300, 'N'));
    texts.push_back("");
    for (const std::size_t prefix_tokens : {4UL, 512UL}) {
        DOCTEST_CHECK(differences(rules, prefix_tokens, texts) == 0);
    }
}

DOCTEST_TEST_CASE("tokenizer/base_encoder: many threads share one encoder") {
    const auto model = parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const BpeRules rules = bpe_rules_of(model, "small");
    const ReachableTokens tokens(rules);
    const auto general = make_encoder_tables(tokens);
    const BaseEncoder encoder(*BaseTokens::of(tokens), *general);
    bigbird::Rng rng(23);
    const std::vector<std::string> texts = random_texts(rng, "ACGT", 60, 40);
    const auto encoded = [&](const EncoderTables* slow, std::size_t index) {
        const std::string& text = texts[index % texts.size()];
        std::vector<std::uint8_t> letters(text.size() + TokenMatcher::padding);
        std::transform(text.begin(), text.end(), letters.begin(),
                       [&](char letter) { return general->matcher().letter_number(letter); });
        std::vector<TokenAt> found;
        slow != nullptr ? slow->encode(letters.data(), text.size(), found)
                        : encoder.encode(letters.data(), text.size(), found);
        return found;
    };
    std::atomic<int> wrong{0};
    bigbird::parallel_for(400, 4, [&](std::int64_t i) {
        const auto index = static_cast<std::size_t>(i);
        wrong += encoded(nullptr, index) != encoded(general.get(), index);
    });
    DOCTEST_CHECK(wrong == 0);
}
