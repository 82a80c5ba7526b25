// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/encode/token_matcher.hpp"

#include "bigbird/core/check.hpp"

#include <algorithm>

namespace bigbird::tokenizer {

TokenMatcher::TokenMatcher(std::span<const std::string> tokens) {
    numbers_.fill(unknown_letter);
    for (const std::string& token : tokens) {
        for (const char letter : token) {
            std::uint8_t& number = numbers_[static_cast<unsigned char>(letter)];
            if (number == unknown_letter) {
                BIGBIRD_EXPECTS(letters_ < unknown_letter, "more letters than a byte counts");
                number = static_cast<std::uint8_t>(letters_++);
            }
        }
    }
    // A C G T first, whatever the tokens' order, so that stretches of them take the eight-letter look-up.
    std::uint8_t next = 0;
    for (const char letter : {'A', 'C', 'G', 'T'}) {
        std::uint8_t& number = numbers_[static_cast<unsigned char>(letter)];
        const auto holder = std::find(numbers_.begin(), numbers_.end(), next);
        if (number != unknown_letter && holder != numbers_.end()) {
            std::swap(number, *holder);
            ++next;
        }
    }
    long_.nodes.resize(2 * letters_);
    for (std::size_t token = 0; token < tokens.size(); ++token) {
        insert(tokens[token], static_cast<Token>(token));
    }
    fill_jumps();
    shorten();
}

void TokenMatcher::insert(std::string_view text, Token token) {
    std::size_t node = 1, slot = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        slot = node * letters_ + letter_number(text[i]);
        if (i + 1 == text.size()) {
            break;
        }
        if (long_.nodes[slot].node == 0) {
            long_.nodes[slot].node = static_cast<std::uint32_t>(long_.nodes.size() / letters_);
            long_.nodes.resize(long_.nodes.size() + letters_);
        }
        node = long_.nodes[slot].node;
    }
    long_.nodes[slot].token = token;
}

void TokenMatcher::fill_jumps() {
    long_.jumps.resize(std::size_t{1} << (2 * jump));
    for (std::size_t word = 0; word < long_.jumps.size(); ++word) {
        Match<std::uint32_t> match{1, no_token};
        Token best = no_token;
        for (std::size_t i = 0; i < jump && match.node != 0; ++i) {
            const std::size_t letter = word >> (2 * i) & 3;
            match = letter < letters_ ? long_.nodes[match.node * letters_ + letter] : Match<std::uint32_t>{};
            best = match.token != no_token ? match.token : best;
        }
        long_.jumps[word] = {match.node, best};
    }
}

// Most of the time of matching is waiting for memory, so that half of it is worth having.
void TokenMatcher::shorten() {
    constexpr std::uint32_t most = Match<std::uint16_t>::none;
    const auto too_large = [](const Match<std::uint32_t>& match) {
        return match.node >= most || (match.token != no_token && match.token >= most);
    };
    if (std::any_of(long_.nodes.begin(), long_.nodes.end(), too_large)) {
        return;
    }
    const auto shortened = [](const std::vector<Match<std::uint32_t>>& matches) {
        std::vector<Match<std::uint16_t>> halves;
        halves.reserve(matches.size());
        for (const Match<std::uint32_t>& match : matches) {
            halves.push_back(
                {static_cast<std::uint16_t>(match.node), static_cast<std::uint16_t>(match.token)});
        }
        return halves;
    };
    short_ = {shortened(long_.nodes), shortened(long_.jumps)};
    long_ = {};
}

}  // namespace bigbird::tokenizer
