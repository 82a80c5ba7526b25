// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/token_matcher.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

using namespace bigbird::tokenizer;

DOCTEST_TEST_CASE("tokenizer/token_matcher: the longest token, as comparing with each finds it") {
    bigbird::Rng rng(1);
    const std::string letters = "NTGCA";
    std::vector<std::string> tokens{"N", "T", "G", "C", "A"};
    const auto random_text = [&](std::int64_t length) {
        std::string text;
        while (static_cast<std::int64_t>(text.size()) < length) {
            text += rng.uniform() < 0.5 && !text.empty()
                        ? text.back()
                        : letters[static_cast<std::size_t>(rng.between(0, 4))];
        }
        return text;
    };
    for (int i = 0; i < 2000; ++i) {
        tokens.push_back(random_text(rng.between(2, 20)));
    }
    std::sort(tokens.begin(), tokens.end());
    tokens.erase(std::unique(tokens.begin(), tokens.end()), tokens.end());
    const TokenMatcher matcher(tokens);
    DOCTEST_CHECK(matcher.letter_number('x') == TokenMatcher::unknown_letter);
    DOCTEST_CHECK(matcher.letter_number('T') < 4);
    const std::string text = random_text(3000);
    std::vector<std::uint8_t> numbers(text.size() + TokenMatcher::padding);
    for (std::size_t i = 0; i < text.size(); ++i) {
        numbers[i] = matcher.letter_number(text[i]);
    }
    int wrong = 0;
    for (std::size_t position = 0; position < text.size(); ++position) {
        const std::size_t size = std::min<std::size_t>(text.size() - position, position % 13 + 1);
        std::size_t best = 0;
        for (std::size_t token = 0; token < tokens.size(); ++token) {
            if (tokens[token].size() <= size &&
                text.compare(position, tokens[token].size(), tokens[token]) == 0 &&
                (best == 0 || tokens[token].size() > tokens[best - 1].size())) {
                best = token + 1;
            }
        }
        wrong += matcher.longest(numbers.data() + position, size) != best - 1;
    }
    DOCTEST_CHECK(wrong == 0);
}

namespace {

struct Text {
    Text(const TokenMatcher& matcher, const std::string& text)
        : numbers(text.size() + TokenMatcher::padding), size(text.size()) {
        for (std::size_t i = 0; i < size; ++i) {
            numbers[i] = matcher.letter_number(text[i]);
        }
    }
    Token longest(const TokenMatcher& matcher, std::size_t from = 0) const {
        return matcher.longest(numbers.data() + from, size - from);
    }
    std::vector<std::uint8_t> numbers;
    std::size_t size;
};

}  // namespace

DOCTEST_TEST_CASE("tokenizer/token_matcher: tokens of every length around the eight of a look-up") {
    std::vector<std::string> tokens{"A", "C", "G", "T"};
    const std::string chain = "ACGTTGCAACGT";
    for (std::size_t length = 2; length <= chain.size(); ++length) {
        tokens.push_back(chain.substr(0, length));
    }
    const TokenMatcher matcher(tokens);
    for (std::size_t length = 1; length <= chain.size(); ++length) {
        DOCTEST_CAPTURE(length);
        const std::string& expected = chain.substr(0, length);
        DOCTEST_CHECK(tokens[Text(matcher, expected).longest(matcher)] == expected);
        const char other = length < chain.size() && chain[length] == 'G' ? 'C' : 'G';
        DOCTEST_CHECK(tokens[Text(matcher, expected + other + "ACGTACGTACGT").longest(matcher)] == expected);
    }
}

DOCTEST_TEST_CASE("tokenizer/token_matcher: A C G T come first, whatever letters there are") {
    const std::vector<std::string> tokens{"n", "T", "x", "A", "nT"};
    const TokenMatcher matcher(tokens);
    DOCTEST_CHECK(matcher.letter_number('A') == 0);
    DOCTEST_CHECK(matcher.letter_number('T') == 1);
    DOCTEST_CHECK(matcher.letter_number('n') >= 2);
    DOCTEST_CHECK(matcher.letter_number('n') < 4);
    DOCTEST_CHECK(matcher.letter_number('n') != matcher.letter_number('x'));
    DOCTEST_CHECK(matcher.letter_number('C') == TokenMatcher::unknown_letter);
    DOCTEST_CHECK(tokens[Text(matcher, "nTTTTTTTTTTT").longest(matcher)] == "nT");
    DOCTEST_CHECK(tokens[Text(matcher, "nAAAAAAAAAAA").longest(matcher)] == "n");
}

DOCTEST_TEST_CASE("tokenizer/token_matcher: more nodes than 16 bits count") {
    bigbird::Rng rng(61);
    std::vector<std::string> tokens{"A", "C", "G", "T"};
    std::set<std::string> known(tokens.begin(), tokens.end());
    while (tokens.size() < 9000) {
        std::string text;
        while (text.size() < 20) {
            text += "ACGT"[rng.between(0, 3)];
        }
        if (known.insert(text).second) {
            tokens.push_back(text);
        }
    }
    const TokenMatcher matcher(tokens);
    int wrong = 0;
    for (std::size_t token = 4; token < tokens.size(); token += 7) {
        wrong += Text(matcher, tokens[token] + "A").longest(matcher) != token;
        const std::string all_but_one = tokens[token].substr(0, 19);
        const Token found = Text(matcher, all_but_one).longest(matcher);
        wrong += tokens[found] != all_but_one.substr(0, 1);
    }
    DOCTEST_CHECK(wrong == 0);
}

DOCTEST_TEST_CASE("tokenizer/token_matcher: eight letters as sixteen bits, the first in the lowest") {
    DOCTEST_CHECK(TokenMatcher::pack(0) == 0);
    DOCTEST_CHECK(TokenMatcher::pack(0x0000000000000003) == 3);
    DOCTEST_CHECK(TokenMatcher::pack(0x0300000000000000) == 0xC000);
    DOCTEST_CHECK(TokenMatcher::pack(0x0302010003020100) == 0xE4E4);
    DOCTEST_CHECK(TokenMatcher::pack(0x0303030303030303) == 0xFFFF);
}
