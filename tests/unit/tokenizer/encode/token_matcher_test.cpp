// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/token_matcher.hpp"

#include "support/testing.hpp"

#include "bigbird/core/rng.hpp"

#include <algorithm>
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
