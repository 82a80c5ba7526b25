// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bigbird/tokenizer/encode/encoder_tables.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace bigbird::tokenizer {

/// The tokens that spell A C G T alone, numbered: the four letters, then the others in the order in which
/// encoding merges them. So of two merges the one with the lower number comes first.
///
/// Each of them is merged from the same two tokens wherever it occurs: inside a text its letters go the way
/// that they go alone (pair_compatibility.hpp).
class BaseTokens {
public:
    using Number = std::uint16_t;
    static constexpr Number none = 0xFFFF;
    static constexpr std::size_t letters = 4;

    /// Nothing where one of the four letters is no token, where numbers or lengths are too large (65,000
    /// tokens, 255 letters), or where two tokens have equal ranks.
    static std::optional<BaseTokens> of(const ReachableTokens& tokens);

    struct Token {
        Number left = none, right = none;  ///< what it is merged from; none for letters
        std::uint8_t length = 1;
        tokenizer::Token number = 0;  ///< ReachableTokens'
    };
    std::size_t size() const { return tokens_.size(); }
    const Token& operator[](std::size_t number) const { return tokens_[number]; }
    /// Tokens below this number are merged by merges of rising rank.
    std::size_t ordered() const { return ordered_; }
    /// True where some token spells one of the four letters and another one.
    bool mixed() const { return mixed_; }

    /// What `left` and `right` are merged into, or none.
    Number merged(Number left, Number right) const {
        const std::uint32_t pair = std::uint32_t{left} << 16 | right, mixed = pair * 0x9E3779B1U;
        for (std::size_t i = mixed >> 8 & mask_; slots_[i] != 0; i = (i + 1) & mask_) {
            const auto number = static_cast<Number>(slots_[i]);
            if (slots_[i] >> 16 == (mixed & 0xFFFF) && pairs_[number] == pair) {
                return number;
            }
        }
        return none;
    }

private:
    BaseTokens() = default;
    void index_pairs();

    std::vector<Token> tokens_;
    std::vector<std::uint32_t> pairs_;  // left << 16 | right
    std::vector<std::uint32_t> slots_;  // the lower half of the pair's hash << 16 | number; 0: empty
    std::size_t mask_ = 0, ordered_ = 0;
    bool mixed_ = false;
};

}  // namespace bigbird::tokenizer
