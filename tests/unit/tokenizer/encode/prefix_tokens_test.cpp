// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/prefix_tokens.hpp"

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

constexpr std::string_view bases = "ACGT";

struct Cut {
    std::vector<std::string> tokens;
    std::size_t letters = 0;
};

Cut cut(const PrefixTokens& shorts, const BaseTokens& numbered, const ReachableTokens& tokens,
        const std::string& text) {
    std::vector<std::uint8_t> packed(text.size() / 4 + 1 + PrefixTokens::padding);
    for (std::size_t i = 0; i < text.size(); ++i) {
        packed[i / 4] = static_cast<std::uint8_t>(packed[i / 4] | bases.find(text[i]) << (2 * (i % 4)));
    }
    std::vector<BaseTokens::Number> numbers;
    Cut found{.tokens = {}, .letters = shorts.cut(packed.data(), text.size(), numbers)};
    for (const BaseTokens::Number number : numbers) {
        found.tokens.push_back(tokens.texts[numbered[number].number]);
    }
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
        for (const char letter : text) {
            letters.push_back(rules.letters[static_cast<unsigned char>(letter)]);
        }
        const std::vector<Token> expected = encode_by_definition(rules, letters);
        const Cut found = cut(shorts, numbered, tokens, text);
        std::size_t spelt = 0;
        for (std::size_t i = 0; i < found.tokens.size(); ++i) {
            if (i >= expected.size() || rules.texts[expected[i]] != found.tokens[i]) {
                return -1;
            }
            spelt += found.tokens[i].size();
        }
        if (spelt != found.letters) {
            return -1;
        }
        left += static_cast<std::int64_t>(text.size() - spelt);
    }
    return left;
}

}  // namespace

DOCTEST_TEST_CASE("tokenizer/prefix_tokens: what the first merges of a trained model make") {
    bigbird::Rng rng(3);
    const auto model = parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const BpeRules rules = bpe_rules_of(model, "small");
    for (const std::size_t most : {4UL, 20UL, 150UL, 512UL}) {
        const auto texts = random_texts(rng, "ACGT", 80, 5);
        const std::int64_t left = letters_left(rules, most, texts);
        DOCTEST_CHECK(left >= 0);
        DOCTEST_CHECK(left < static_cast<std::int64_t>(texts.size()) * 40);
        for (const std::string letters : {"A", "AT", "AC"}) {
            DOCTEST_CHECK(letters_left(rules, most, random_texts(rng, letters, 60, 5)) >= 0);
        }
        // Long enough to be cut in parts.
        for (const std::string letters : {"ACGT", "A", "AC"}) {
            DOCTEST_CHECK(letters_left(rules, most, random_texts(rng, letters, 6, 130)) >= 0);
        }
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
            if (round % 8 == 0) {
                DOCTEST_CHECK(letters_left(rules, 60, random_texts(rng, "ACGT", 6, 130)) >= 0);
            }
        }
    }
    DOCTEST_CHECK(counted > 20);
}

DOCTEST_TEST_CASE("tokenizer/prefix_tokens: neighbours stay apart exactly if their letters encode to them") {
    bigbird::Rng rng(13);
    int compared = 0, apart = 0, wrong = 0;
    for (int round = 0; round < 10; ++round) {
        const ReachableTokens tokens(random_rules(rng, 40, true, 0));
        const auto numbered = BaseTokens::of(tokens);
        if (!numbered) {
            continue;
        }
        const std::size_t count = numbered->ordered();
        const ShortNeighbours neighbours(*numbered, count);
        const BpeRules rules = first_rules(*numbered, tokens, count);
        for (Token left = 0; left < count; ++left) {
            for (Token right = 0; right < count; ++right) {
                std::vector<Token> letters;
                for (const char letter : rules.texts[left] + rules.texts[right]) {
                    letters.push_back(rules.letters[static_cast<unsigned char>(letter)]);
                }
                const bool expected = encode_by_definition(rules, letters) == std::vector<Token>{left, right};
                wrong += neighbours.apart(left, right) != expected;
                apart += expected;
                ++compared;
            }
        }
    }
    DOCTEST_CHECK(wrong == 0);
    DOCTEST_CHECK(apart > 50);
    DOCTEST_CHECK(compared > apart);
}

DOCTEST_TEST_CASE("tokenizer/prefix_tokens: of real sequence next to nothing is left uncut") {
    const auto model = parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const BpeRules rules = bpe_rules_of(model, "small");
    std::string dna;
    for (const char letter : read_file(test_data("tokenizer/sentences.txt")).substr(0, 12'000)) {
        dna += letter == '\n' ? "" : std::string(1, letter);
    }
    std::vector<std::string> slices;
    for (std::size_t begin = 0; begin + 900 < dna.size(); begin += 700) {
        slices.push_back(dna.substr(begin, 500 + begin % 391));  // in one part, and in four
    }
    for (const std::string& slice : slices) {
        const std::int64_t left = letters_left(rules, 40, {slice});
        DOCTEST_CHECK(left >= 0);
        DOCTEST_CHECK(left < 16);
        DOCTEST_CHECK(letters_left(rules, 512, {slice}) >= 0);  // the whole vocabulary, long tokens too
    }
}

DOCTEST_TEST_CASE("tokenizer/prefix_tokens: as many as asked for, of rising rank, and short enough") {
    const auto model = parse_sentencepiece_model(read_file(test_data("tokenizer/small.model")), "small");
    const ReachableTokens tokens(bpe_rules_of(model, "small"));
    const BaseTokens numbered = *BaseTokens::of(tokens);
    DOCTEST_CHECK(PrefixTokens(numbered, 4).count() == 4);
    DOCTEST_CHECK(PrefixTokens(numbered, 100).count() == 100);
    const std::size_t all = PrefixTokens(numbered).count();
    DOCTEST_CHECK(all > 100);
    DOCTEST_CHECK(all <= numbered.ordered());
    for (std::size_t i = 0; i < all; ++i) {
        DOCTEST_CHECK(numbered[i].length <= PrefixTokens::longest);
    }
    // A run of A of 32 letters is too long for a short token; so nothing from there on is one.
    BpeRules runs;
    for (const char* letter : {"A", "C", "G", "T"}) {
        runs.add(letter, 0);
    }
    for (std::string run = "A"; run.size() < 32; run += run) {
        const Token half = *runs.find(run);
        runs.add_merge(half, half, static_cast<std::uint32_t>(runs.size()), runs.add(run + run, 0));
    }
    runs.add_merge(*runs.find("C"), *runs.find("G"), 90, runs.add("CG", 0));
    const ReachableTokens reachable(runs);
    DOCTEST_CHECK(PrefixTokens(*BaseTokens::of(reachable)).count() == 8);  // A C G T, AA … A16
}
