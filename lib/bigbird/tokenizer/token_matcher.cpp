// SPDX-License-Identifier: Apache-2.0
#include "bigbird/tokenizer/token_matcher.hpp"

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
    nodes_.resize(2 * letters_);
    for (std::size_t token = 0; token < tokens.size(); ++token) {
        insert(tokens[token], static_cast<Token>(token));
    }
    fill_jumps();
}

void TokenMatcher::insert(std::string_view text, Token token) {
    std::size_t node = 1, slot = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        slot = node * letters_ + letter_number(text[i]);
        if (i + 1 == text.size()) {
            break;
        }
        if (nodes_[slot].node == 0) {
            nodes_[slot].node = static_cast<std::uint32_t>(nodes_.size() / letters_);
            nodes_.resize(nodes_.size() + letters_);
        }
        node = nodes_[slot].node;
    }
    nodes_[slot].token = token;
}

void TokenMatcher::fill_jumps() {
    jumps_.resize(std::size_t{1} << (2 * jump));
    for (std::size_t word = 0; word < jumps_.size(); ++word) {
        Match match = root_;
        Token best = no_token;
        for (std::size_t i = 0; i < jump && match.node != 0; ++i) {
            const std::size_t letter = word >> (2 * i) & 3;
            match = letter < letters_ ? nodes_[match.node * letters_ + letter] : Match{};
            best = match.token != no_token ? match.token : best;
        }
        jumps_[word] = {match.node, best};
    }
}

}  // namespace bigbird::tokenizer
