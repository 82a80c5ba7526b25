// SPDX-License-Identifier: Apache-2.0
// The first stage of encoding bases. Encoding merges by rank, so it can stop once no merge of the first few
// hundred tokens is left, and go on from there later. What stands there then are short tokens, and where one
// begins, which one it is depends on the letters behind it alone (what lies before a token that stays does
// not matter to what follows): nearly always on the next eight, which one look-up answers.
#pragma once

#include "bigbird/tokenizer/encode/base_tokens.hpp"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace bigbird::tokenizer {

/// Which of the first tokens stay apart when nothing but these is merged.
class ShortNeighbours {
public:
    ShortNeighbours(const BaseTokens& tokens, std::size_t count);
    bool apart(std::size_t left, std::size_t right) const {
        return (bits_[left * words_ + (right >> 6)] >> (right & 63) & 1) != 0;
    }

private:
    std::size_t words_;
    std::vector<std::uint64_t> bits_;
};

class PrefixTokens {
public:
    using Number = BaseTokens::Number;
    static constexpr std::size_t usual_count = 512, highest_count = 1024;
    static constexpr std::size_t longest = 16;
    /// Bytes that may be read behind packed letters.
    static constexpr std::size_t padding = 8;

    /// Of the first `most` tokens at most.
    explicit PrefixTokens(const BaseTokens& tokens, std::size_t most = usual_count);
    std::size_t count() const { return count_; }

    /// Appends short tokens of `size` letters, four to a byte, lowest bits first. Stops where what is left
    /// does not tell the next token: at most some tens of letters before the end, but for sequences that
    /// repeat themselves without end in two ways at once. Returns the letters that the tokens spell.
    std::size_t cut(const std::uint8_t* packed, std::size_t size, std::vector<Number>& tokens) const;

private:
    static constexpr std::size_t known_letters = 8;
    static constexpr Number ambiguous = 0x8000;

    /// A token, and its length less one above it; or, in doubt, a position in ambiguous_.
    using Candidate = std::uint16_t;
    static constexpr unsigned number_bits = 10;
    static Number number_of(Candidate candidate) { return candidate & ((1U << number_bits) - 1); }
    static std::size_t length_of(Candidate candidate) {
        return (static_cast<std::size_t>(candidate) >> number_bits) + 1;
    }

    /// A part of the text on its way, and the candidates found in it.
    struct Part {
        std::size_t begin = 0, end = 0, position = 0;
        Candidate *first = nullptr, *last = nullptr;
    };
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
    ShortNeighbours neighbours_;
    std::vector<Candidate> candidates_;  // by the next eight letters
    std::vector<Candidate> ambiguous_;   // lists of candidates,
    std::vector<std::uint32_t> lists_;   // which begin there
};

}  // namespace bigbird::tokenizer
