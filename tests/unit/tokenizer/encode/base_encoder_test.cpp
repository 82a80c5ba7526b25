// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/base_encoder.hpp"

#include "support/temp_dir.hpp"
#include "support/testing.hpp"
#include "unit/tokenizer/bpe_oracle.hpp"

#include "bigbird/core/parallel.hpp"
#include "bigbird/tokenizer/encode/prefix_tokens.hpp"
#include "bigbird/tokenizer/formats/sentencepiece_model.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

using namespace bigbird::testing;
using namespace bigbird::tokenizer;

namespace {

// Texts whose tokens are not those of the slower twin; 1,000 where there is no fast one.
int differences(const BpeRules& rules, std::size_t prefix_tokens, const std::vector<std::string>& texts) {
    const ReachableTokens tokens(rules);
    const auto general = make_encoder_tables(tokens);
    auto bases = BaseTokens::of(tokens);
    if (!bases) return 1000;
    const BaseEncoder encoder(std::move(*bases), *general, prefix_tokens);
    int found = 0;
    for (const std::string& text : texts) {
        const std::vector<std::uint8_t> letters = numbers_of(general->matcher(), text);
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
    const BpeRules rules = small_rules();
    std::vector<std::string> texts = random_texts(rng, "ACGT", 100, 11);
    for (const std::string letters : {"A", "AC", "ACGTN", "ACGTACGTACGTACGTN"}) {
        const auto more = random_texts(rng, letters, 60, 11);
        texts.insert(texts.end(), more.begin(), more.end());
    }
    for (const std::string unit : {"T", "AT", "CAG", "TTAGGG"}) {
        std::string repeated = "GATTACA";
        while (repeated.size() < 3000)
            repeated += unit;
        texts.push_back(repeated + "GATTACA" + repeated);
    }
    texts.push_back(real_sequence().substr(0, 30'000));
    for (const std::size_t prefix_tokens : {4UL, 30UL, 150UL, 512UL})
        DOCTEST_CHECK(differences(rules, prefix_tokens, texts) == 0);
}

DOCTEST_TEST_CASE("tokenizer/base_encoder: its slower twin's tokens, with rules that no training makes") {
    bigbird::Rng rng(22);
    int compared = 0;
    for (int round = 0; round < 80; ++round) {
        // Mixed tokens in every fourth round.
        const std::string letters = round % 4 == 3 ? "ACGTN" : "ACGT";
        const BpeRules rules = random_rules(rng, 100, round % 2 == 0, round % 3 == 0 ? 7 : 0, letters);
        if (!BaseTokens::of(ReachableTokens(rules))) continue;
        ++compared;
        for (const std::size_t prefix_tokens : {10UL, 50UL, 512UL}) {
            DOCTEST_CHECK(differences(rules, prefix_tokens, random_texts(rng, letters, 60, 7)) == 0);
            DOCTEST_CHECK(differences(rules, prefix_tokens, random_texts(rng, "AC", 60, 7)) == 0);
        }
    }
    DOCTEST_CHECK(compared > 40);
}

DOCTEST_TEST_CASE("tokenizer/base_encoder: its slower twin's tokens where stretches of bases begin and end") {
    const BpeRules rules = small_rules();
    const std::string dna = real_sequence();
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
    for (const std::size_t prefix_tokens : {4UL, 512UL})
        DOCTEST_CHECK(differences(rules, prefix_tokens, texts) == 0);
}

namespace {

struct Merge {
    const char *left, *right;
    std::uint32_t rank;
};

BpeRules rules_of(const std::string& letters, const std::vector<Merge>& merges) {
    BpeRules rules;
    for (const char letter : letters)
        rules.add(std::string(1, letter), static_cast<std::int32_t>(rules.size()));
    for (const Merge& merge : merges) {
        const std::string text = std::string(merge.left) + merge.right;
        const Token merged =
            rules.find(text) ? *rules.find(text) : rules.add(text, static_cast<std::int32_t>(rules.size()));
        rules.add_merge(*rules.find(merge.left), *rules.find(merge.right), merge.rank, merged);
    }
    return rules;
}

}  // namespace

DOCTEST_TEST_CASE(
    "tokenizer/base_tokens: none where a letter is missing, ranks are equal or a token is long") {
    DOCTEST_CHECK(!BaseTokens::of(ReachableTokens(rules_of("ACG", {{"A", "C", 7}}))));
    DOCTEST_CHECK(!BaseTokens::of(ReachableTokens(rules_of("ACGT", {{"A", "C", 7}, {"G", "G", 7}}))));
    std::vector<Merge> merges;
    std::vector<std::string> runs{"A"};
    while (runs.back().size() < 256)
        runs.push_back(runs.back() + runs.back());
    for (std::size_t i = 0; i + 1 < runs.size(); ++i)
        merges.push_back({runs[i].c_str(), runs[i].c_str(), static_cast<std::uint32_t>(i)});
    DOCTEST_CHECK(!BaseTokens::of(ReachableTokens(rules_of("ACGT", merges))));
    merges.pop_back();
    DOCTEST_CHECK(BaseTokens::of(ReachableTokens(rules_of("ACGT", merges))).has_value());
}

DOCTEST_TEST_CASE(
    "tokenizer/prefix_tokens: a text that begins as a long token does, and goes on otherwise, is cut on") {
    const std::string longest = "GTCATGCATCGA";  // all of whose beginnings are tokens
    std::vector<std::string> beginnings;
    for (std::size_t size = 1; size < longest.size(); ++size)
        beginnings.push_back(longest.substr(0, size));
    const std::vector<std::string> last{"T", "C", "A", "T", "G", "C", "A", "T", "C", "G", "A"};
    std::vector<Merge> merges;
    for (std::size_t i = 0; i < last.size(); ++i)
        merges.push_back({beginnings[i].c_str(), last[i].c_str(), static_cast<std::uint32_t>(i)});
    const auto tokens = BaseTokens::of(ReachableTokens(rules_of("ACGT", merges)));
    DOCTEST_REQUIRE(tokens.has_value());
    bigbird::Rng rng(23);
    std::string text;
    for (int i = 0; i < 100; ++i)
        text += random_text(rng, 5, "ACGT", 0.7) + longest.substr(0, 8) + "GG" + longest;
    std::vector<std::uint8_t> packed(text.size() / 4 + 1 + PrefixTokens::padding);
    for (std::size_t i = 0; i < text.size(); ++i)
        packed[i / 4] |= static_cast<std::uint8_t>(std::string_view("ACGT").find(text[i]) << (2 * (i % 4)));
    std::vector<BaseTokens::Number> cut;
    DOCTEST_CHECK(PrefixTokens(*tokens).cut(packed.data(), text.size(), cut) + 64 > text.size());
}

DOCTEST_TEST_CASE("tokenizer/base_tokens: finds each pair that makes a token, and no other") {
    bigbird::Rng rng(71);
    int compared = 0;
    for (int round = 0; round < 6; ++round) {
        const ReachableTokens tokens(bigbird::testing::random_rules(rng, 300, round % 2 == 0, 0));
        const auto bases = BaseTokens::of(tokens);
        if (!bases) continue;
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

namespace {

constexpr std::string_view bases = "ACGT";

struct Cut {
    std::vector<std::string> tokens;
    std::size_t letters = 0;
};

Cut cut(const PrefixTokens& shorts, const BaseTokens& numbered, const ReachableTokens& tokens,
        const std::string& text) {
    std::vector<std::uint8_t> packed(text.size() / 4 + 1 + PrefixTokens::padding);
    for (std::size_t i = 0; i < text.size(); ++i)
        packed[i / 4] = static_cast<std::uint8_t>(packed[i / 4] | bases.find(text[i]) << (2 * (i % 4)));
    std::vector<BaseTokens::Number> numbers;
    Cut found{.tokens = {}, .letters = shorts.cut(packed.data(), text.size(), numbers)};
    for (const BaseTokens::Number number : numbers)
        found.tokens.push_back(tokens.texts[numbered[number].number]);
    return found;
}

// The rules that make the first `count` tokens, and no others.
BpeRules first_rules(const BaseTokens& numbered, const ReachableTokens& tokens, std::size_t count) {
    BpeRules rules;
    for (std::size_t i = 0; i < count; ++i) {
        rules.add(tokens.texts[numbered[i].number], static_cast<std::int32_t>(i));
        if (i >= BaseTokens::letters) {
            rules.add_merge(numbered[i].left, numbered[i].right, static_cast<std::uint32_t>(i),
                            static_cast<Token>(i));
        }
    }
    return rules;
}

// Letters that are left uncut, or -1 where a token is not what the definition gives.
std::int64_t letters_left(const BpeRules& all, std::size_t most, const std::vector<std::string>& texts) {
    const ReachableTokens tokens(all);
    const BaseTokens numbered = *BaseTokens::of(tokens);
    const PrefixTokens shorts(numbered, most);
    const BpeRules rules = first_rules(numbered, tokens, shorts.count());
    std::int64_t left = 0;
    for (const std::string& text : texts) {
        std::vector<Token> letters;
        for (const char letter : text)
            letters.push_back(rules.letters[static_cast<unsigned char>(letter)]);
        const std::vector<Token> expected = encode_by_definition(rules, letters);
        const Cut found = cut(shorts, numbered, tokens, text);
        std::size_t spelt = 0;
        for (std::size_t i = 0; i < found.tokens.size(); ++i) {
            if (i >= expected.size() || rules.texts[expected[i]] != found.tokens[i]) return -1;
            spelt += found.tokens[i].size();
        }
        if (spelt != found.letters) return -1;
        left += static_cast<std::int64_t>(text.size() - spelt);
    }
    return left;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/prefix_tokens: what the first merges of a trained model make") {
    bigbird::Rng rng(3);
    const BpeRules rules = small_rules();
    for (const std::size_t most : {4UL, 20UL, 150UL, 512UL}) {
        const auto texts = random_texts(rng, "ACGT", 80, 5);
        const std::int64_t left = letters_left(rules, most, texts);
        DOCTEST_CHECK(left >= 0);
        DOCTEST_CHECK(left < static_cast<std::int64_t>(texts.size()) * 40);
        for (const std::string letters : {"A", "AT", "AC"})
            DOCTEST_CHECK(letters_left(rules, most, random_texts(rng, letters, 60, 5)) >= 0);
        // Long enough to be cut in parts.
        for (const std::string letters : {"ACGT", "A", "AC"})
            DOCTEST_CHECK(letters_left(rules, most, random_texts(rng, letters, 6, 130)) >= 0);
    }
}

DOCTEST_TEST_CASE("tokenizer/prefix_tokens: what the first of rules that no training makes give") {
    bigbird::Rng rng(12);
    std::int64_t counted = 0;
    for (int round = 0; round < 40; ++round) {
        const BpeRules rules = random_rules(rng, 80, round % 2 == 0, round % 3 == 0 ? 7 : 0);
        const ReachableTokens tokens(rules);
        if (BaseTokens::of(tokens)) {
            ++counted;
            DOCTEST_CHECK(letters_left(rules, 40, random_texts(rng, "ACGT")) >= 0);
            DOCTEST_CHECK(letters_left(rules, 80, random_texts(rng, "AC")) >= 0);
            if (round % 8 == 0)
                DOCTEST_CHECK(letters_left(rules, 60, random_texts(rng, "ACGT", 6, 130)) >= 0);
        }
    }
    DOCTEST_CHECK(counted > 20);
}
