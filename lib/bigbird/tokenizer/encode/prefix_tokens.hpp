// SPDX-License-Identifier: Apache-2.0
// The first stage of encoding bases. Encoding merges by rank, so it can stop after all merges of the first
// few hundred tokens, and continue later. The result at that point is a sequence of short tokens. The short
// token that begins at a position depends only on the letters after the position, nearly always on the next
// eight. So one table look-up finds it.
#pragma once

#include "bigbird/tokenizer/encode/encoder_tables.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace bigbird::tokenizer {

/// The tokens of only A C G T, numbered: the four letters, then the others in the order of their merges. So
/// of two merges, the one with the lower number comes first.
///
/// Each token is merged from the same two tokens wherever it occurs: its letters merge in a text as they do
/// by themselves (encoder_tables.hpp).
class BaseTokens {
public:
    using Number = std::uint16_t;
    static constexpr Number none = 0xFFFF;
    static constexpr std::size_t letters = 4;

    /// Returns nullopt if one of the four letters is not a token, if numbers or lengths are too large (65,000
    /// tokens, 255 letters), or if two tokens have equal ranks.
    static std::optional<BaseTokens> of(const ReachableTokens& tokens);

    struct Token {
        Number left = none, right = none;  ///< the two tokens that it is merged from; none for letters
        std::uint8_t length = 1;
        tokenizer::Token number = 0;  ///< ReachableTokens'
    };
    std::size_t size() const { return tokens_.size(); }
    const Token& operator[](std::size_t number) const { return tokens_[number]; }
    /// Tokens below this number have merges of ascending rank.
    std::size_t ordered() const { return ordered_; }
    /// Whether any token has both one of the four letters and another letter.
    bool mixed() const { return mixed_; }

    /// The token that `left` and `right` are merged into, or none.
    Number merged(Number left, Number right) const {
        const std::uint32_t pair = std::uint32_t{left} << 16 | right, mixed = pair * 0x9E3779B1U;
        for (std::size_t i = mixed >> 8 & mask_; slots_[i] != 0; i = (i + 1) & mask_) {
            const auto number = static_cast<Number>(slots_[i]);
            if (slots_[i] >> 16 == (mixed & 0xFFFF) && pairs_[number] == pair) return number;
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

class PrefixTokens {
public:
    using Number = BaseTokens::Number;
    static constexpr std::size_t usual_count = 512, highest_count = 1024;
    static constexpr std::size_t longest = 16;
    /// Number of bytes that may be read after packed letters.
    static constexpr std::size_t padding = 8;

    /// Uses at most the first `most` tokens.
    explicit PrefixTokens(const BaseTokens& tokens, std::size_t most = usual_count);
    std::size_t count() const { return count_; }

    /// Appends short tokens of `size` letters, four to a byte, lowest bits first. Stops where the remaining
    /// letters do not determine the next token: at most some tens of letters before the end, except in rare
    /// repetitive sequences. Returns the number of letters in the tokens.
    std::size_t cut(const std::uint8_t* packed, std::size_t size, std::vector<Number>& tokens) const;

private:
    static constexpr std::size_t known_letters = 8;
    static constexpr Number ambiguous = 0x8000;

    /// A token, with its length minus one in the bits above it; or, if ambiguous, a position in ambiguous_.
    using Candidate = std::uint16_t;
    static constexpr unsigned number_bits = 10;
    static Number number_of(Candidate candidate) { return candidate & ((1U << number_bits) - 1); }
    static std::size_t length_of(Candidate candidate) {
        return (static_cast<std::size_t>(candidate) >> number_bits) + 1;
    }

    /// A part of the text that is being processed, and the candidates found in it.
    struct Part {
        std::size_t begin = 0, end = 0, position = 0;
        Candidate *first = nullptr, *last = nullptr;
    };
    bool apart(Number left, Number right) const { return compatible_[left * count_ + right]; }
    bool spelt_at(const std::uint8_t* packed, std::size_t position, Candidate candidate) const;
    void advance(const std::uint8_t* packed, std::size_t size, Part& part) const;
    std::size_t follow(const std::uint8_t* packed, std::size_t size, std::span<const Part> parts,
                       std::vector<Number>::iterator& out) const;
    Candidate next(const std::uint8_t* packed, std::size_t position, std::size_t size) const;
    Candidate candidate_at(const std::uint8_t* packed, std::size_t position) const;
    Candidate settle(const std::uint8_t* packed, std::size_t position, std::size_t size,
                     Candidate doubt) const;
    bool goes_on(const std::uint8_t* packed, std::size_t position, std::size_t limit, Number before) const;
    std::span<const Candidate> candidates_of(Candidate doubt) const;

    std::size_t count_;
    std::vector<std::uint32_t> spelt_;   // letters by token, two bits each, the first in the lowest
    std::vector<bool> compatible_;       // [left * count_ + right]
    std::vector<Candidate> candidates_;  // by the next eight letters
    std::vector<Candidate> ambiguous_;   // lists of candidates,
    std::vector<std::uint32_t> lists_;   // which begin there
};

}  // namespace bigbird::tokenizer
